"""One kernel of a selection, written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from winnow.errors import Place


@dataclass(frozen=True)
class Kernel:
    """One kernel of a selection. `metadata` is in the matcher's spelling, in the declared order of the fields."""

    name: str
    pack: str
    arch: tuple[str, ...]
    source: Mapping[str, Any]
    """`kind` and where the source is, without the spec."""
    spec: Mapping[str, Any]
    metadata: Mapping[str, Any]
    priority: int
    place: Place
    discriminator: str | None = None
    """What separates its pack from the engine's other packs by the graph alone."""

    @property
    def kernel_source(self) -> dict[str, Any]:
        """As it stands in a kernel descriptor."""
        return {**self.source, "spec": dict(self.spec)} if self.spec else dict(self.source)
