"""Which plugins are installed, and whether each can be used."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from winnow.plugins import Plugin, plugins


@dataclass(frozen=True)
class Installed:
    """Every entry point of every group."""

    plugins: tuple[Plugin, ...]

    @property
    def broken(self) -> tuple[Plugin, ...]:
        """Those that cannot be used."""
        return tuple(plugin for plugin in self.plugins if plugin.state != "ok")

    def as_list(self) -> list[dict[str, Any]]:
        """Plain data, a record an entry point."""
        return [asdict(plugin) for plugin in self.plugins]


def list_plugins() -> Installed:
    """Load every plugin to see whether it can be used; none of them stops this."""
    return Installed(tuple(plugins()))
