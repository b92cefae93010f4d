"""The budget of a manifest: how many kernels are too many, and the exceptions that a person allowed with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from winnow.errors import InputError, Refused, nearest
from winnow.selection.cells import CellWalk, load_registry, shown_cell
from winnow.selection.kernel import Kernel
from winnow.settings.enumeration import Allowance
from winnow.settings.manifest import LoadedManifest
from winnow.wording import amount


@dataclass(frozen=True)
class CellKey:
    """One candidate on one arch in one cell."""

    arch: str
    candidate: str
    cell: tuple[tuple[str, Any], ...]

    @property
    def known(self) -> dict[str, Any]:
        """What `when` may speak of."""
        return {**dict(self.cell), "arch": self.arch}


@dataclass(frozen=True)
class Allowed:
    """An allowance that was needed: its entry, and how many kernels it let past the budget."""

    allowance: Allowance
    kernels: int

    def __str__(self) -> str:
        where = shown_cell(self.allowance.when) or "every cell"
        whose = "" if self.allowance.candidate == "*" else f" of {self.allowance.candidate}"
        return f"{amount(self.kernels, 'kernels')}{whose} in {where}: {self.allowance.reason}"


class Meter:
    """Counts kernels against a budget as they come."""

    def __init__(self, loaded: LoadedManifest) -> None:
        self.loaded = loaded
        self.budget = loaded.manifest.enumerate.budget
        self.cells: Counter[CellKey] = Counter()
        self.limited = 0
        """Kernels so far that no allowance takes out of the budget."""
        self._entries: dict[CellKey, int | None] = {}

    def count(self, key: CellKey, kernels: int = 1) -> None:
        """Count kernels, whether or not there is room for them."""
        self.cells[key] += kernels
        self.limited += kernels if self._entry(key) is None else 0

    def room(self, key: CellKey) -> bool:
        """Whether the budget has room for one more kernel of this cell."""
        if self._entry(key) is not None:
            return True
        of_cell, total = self.budget.per_cell, self.budget.kernels
        return (of_cell is None or self.cells[key] < of_cell) and (total is None or self.limited < total)

    def allowed(self) -> list[Allowed]:
        """The allowances that let something past a budget that would refuse without them."""
        total = sum(self.cells.values())
        crowded = self.budget.kernels is not None and total > self.budget.kernels
        past: Counter[int] = Counter()
        for key, count in self.cells.items():
            entry = self._entry(key)
            full = self.budget.per_cell is not None and count > self.budget.per_cell
            if entry is not None and (crowded or full):
                past[entry] += count
        return [Allowed(self.budget.allow[entry], past[entry]) for entry in sorted(past)]

    def refusal(self) -> Refused | None:
        """The refusal of everything counted so far, or None where it is within the budget."""
        limited = {key: count for key, count in self.cells.items() if self._entry(key) is None}
        message = self._exceeded(limited)
        if message is None:
            return None
        return Refused(
            message,
            place=self.loaded.place("enumerate", "budget"),
            cure="narrow the slice, raise the budget, or name the cells in budget.allow with a reason",
        )

    def excess(self) -> str | None:
        """What is more than the budget even if nothing is allowed past it, or None."""
        return self._exceeded(self.cells)

    def _exceeded(self, cells: Mapping[CellKey, int]) -> str | None:
        total, of_cell = self.budget.kernels, self.budget.per_cell
        counted = sum(cells.values())
        if total is not None and counted > total:
            return f"{counted:,} kernels, the budget is {total:,}"
        for key, count in cells.items():
            if of_cell is not None and count > of_cell:
                where = f"{key.candidate} on {key.arch} in the cell {shown_cell(dict(key.cell))}"
                return f"{count:,} kernels of {where}, the budget is {of_cell:,}"
        return None

    def check_allowances(self) -> None:
        """Raises InputError for an allowance that names no cell, or that nothing needed."""
        used = [allowed.allowance for allowed in self.allowed()]
        known = dict.fromkeys(name for key in self.cells for name in key.known)
        for i, allowance in enumerate(self.budget.allow):
            for name in allowance.when if known else ():
                if name not in known:
                    raise InputError(
                        f'"{name}" is not a field of a cell',
                        place=self.loaded.place("enumerate", "budget", "allow", i, "when", name),
                        cure=nearest(name, known),
                    )
            if not any(allowance is one for one in used):
                raise InputError(
                    "this entry lets nothing past the budget",
                    place=self.loaded.place("enumerate", "budget", "allow", i),
                    cure="take it out: what is allowed without need hides the next excess",
                )

    def _entry(self, key: CellKey) -> int | None:
        """The allowance that takes a cell out of the budget, by its index."""
        if key not in self._entries:
            self._entries[key] = next((i for i, one in enumerate(self.budget.allow) if _covers(one, key)), None)
        return self._entries[key]


def _covers(allowance: Allowance, key: CellKey) -> bool:
    return fnmatchcase(key.candidate, allowance.candidate) and allowance.when.items() <= key.known.items()


def within_budget(loaded: LoadedManifest, kernels: Sequence[Kernel]) -> list[Allowed]:
    """The exceptions that a selection needs of the budget. Raises Refused where the budget says no."""
    meter = meter_selection(CellWalk(loaded, load_registry(loaded)), kernels)
    refusal = meter.refusal()
    if refusal is not None:
        raise refusal
    return meter.allowed()


def meter_selection(walk: CellWalk, kernels: Sequence[Kernel]) -> Meter:
    """The kernels of a selection, counted by the candidate that builds them, arch and cell.

    A kernel that belongs to no cell of the manifest counts in a cell of its own kind, which is empty.
    """
    meter = Meter(walk.loaded)
    cells = list(walk.cells())
    candidates = [
        candidate
        for arch in walk.plan.candidates.arch
        for candidate in walk.candidates(arch)
        if walk.not_reached(candidate) is None
    ]
    builders = {walk.builder(candidate): candidate.name for candidate in candidates}
    for kernel in kernels:
        source = (str(kernel.source.get("source")), str(kernel.source.get("builder")))
        name = next((own for ref, own in builders.items() if (ref.source, ref.builder) == source), source[1])
        cell = next((cell for cell in cells if _belongs(kernel.spec, cell)), {})
        for arch in kernel.arch:
            meter.count(CellKey(arch, name, tuple(cell.items())))
    return meter


def _belongs(spec: Mapping[str, Any], cell: Mapping[str, Any]) -> bool:
    return all(name not in spec or spec[name] == value for name, value in cell.items())
