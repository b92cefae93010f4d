"""Which plugins are installed, and whether each can be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from winnow.compilers.compiler import Compiler
from winnow.families.checked import checked
from winnow.gates.find import gates_of
from winnow.graphs.kinds import ALIASES, KINDS, kinds_of
from winnow.importers.importer import Importer
from winnow.pack.executor import Executor
from winnow.plugins import OpenTable, Plugin, plugins
from winnow.targets.arches import ARCHES, checked_table
from winnow.targets.generics import GENERICS


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
    return Installed(tuple(plugins(_check)))


def _check(group: str, name: str, offered: Any) -> None:
    _CHECKS[group](name, offered)
    for table in _TABLES.get(group, ()):
        problem = table.problem(name)
        if problem is not None:
            raise TypeError(problem)


def _of(kind: type) -> Callable[[str, Any], None]:
    def check(name: str, offered: Any) -> None:
        if not isinstance(offered, kind):
            raise TypeError(f"it is of type {type(offered).__name__}, not {kind.__name__}")

    return check


def _opens_a_device(name: str, offered: Any) -> None:
    if not callable(offered):
        raise TypeError(f"it is of type {type(offered).__name__}, not a function that opens a device")


_CHECKS: Mapping[str, Callable[[str, Any], object]] = {
    "winnow.nodes": lambda name, offered: list(kinds_of(offered)),
    "winnow.families": checked,
    "winnow.compilers": _of(Compiler),
    "winnow.devices": _opens_a_device,
    "winnow.targets": lambda name, offered: checked_table(offered),
    "winnow.gates": lambda name, offered: gates_of(offered),
    "winnow.executors": _of(Executor),
    "winnow.importers": _of(Importer),
}
_TABLES: Mapping[str, tuple[OpenTable[Any], ...]] = {
    "winnow.nodes": (KINDS, ALIASES),
    "winnow.targets": (ARCHES, GENERICS),
}
