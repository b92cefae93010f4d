"""How many variants an engine could have, before any is built: in total, per cell, and per value of each knob."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from winnow.selection.cells import CellWalk, load_registry
from winnow.settings.manifest import LoadedManifest


@dataclass(frozen=True)
class CellCount:
    """The exact number of legal variants of one candidate on one arch in one cell; None where it has no space.

    `marginals` maps each knob to the number of legal variants with each of its values.
    """

    arch: str
    candidate: str
    cell: Mapping[str, Any]
    count: int | None
    marginals: Mapping[str, Mapping[Any, int]]
    refusal: str = ""


@dataclass(frozen=True)
class SpacePlan:
    """Counts of every cell. Cells that a candidate refuses count nothing and say why."""

    cells: tuple[CellCount, ...]

    @property
    def total(self) -> int:
        """Legal variants over all arches, candidates and cells."""
        return sum(cell.count or 0 for cell in self.cells)

    def values(self) -> dict[tuple[str, str, Any], int]:
        """(candidate, knob, value) → legal variants with that value: as many go when the value is dropped."""
        sums: dict[tuple[str, str, Any], int] = {}
        for cell in self.cells:
            for knob, counts in cell.marginals.items():
                for value, count in counts.items():
                    key = (cell.candidate, knob, value)
                    sums[key] = sums.get(key, 0) + count
        return sums


def plan_space(loaded: LoadedManifest) -> SpacePlan:
    """Count the full space of every cell that the manifest names, from its structure, without listing it."""
    walk = CellWalk(loaded, load_registry(loaded))
    counted: list[CellCount] = []
    for arch in walk.plan.candidates.arch:
        for candidate in walk.candidates(arch):
            counted += (_count(walk, candidate, arch, cell) for cell in walk.cells())
    return SpacePlan(tuple(counted))


def _count(walk: CellWalk, candidate: Any, arch: str, cell: Mapping[str, Any]) -> CellCount:
    unreached = walk.not_reached(candidate)
    if unreached is not None:
        return CellCount(arch, candidate.name, cell, 0, {}, unreached)
    request = walk.request(candidate, arch, cell)
    reason = walk.admits(candidate, cell, {}, request)
    if reason is not None:
        return CellCount(arch, candidate.name, cell, 0, {}, reason)
    if getattr(candidate, "space", None) is None:
        return CellCount(arch, candidate.name, cell, None, {}, "the candidate has no tuning space")
    space = walk.space(candidate, cell, request)
    count, marginals = walk.ask(candidate, cell, {}, lambda: (space.count(), space.marginals()))
    return CellCount(arch, candidate.name, cell, count, marginals)
