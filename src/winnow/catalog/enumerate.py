"""Registry → variants: every cell, candidate and knob set ends as selected or refused, with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from winnow.catalog.cells import CellWalk, crossed, load_registry
from winnow.catalog.header import Specialization
from winnow.catalog.manifest import LoadedManifest
from winnow.errors import InputError, Refused, nearest
from winnow.identity import spec_identity
from winnow.strict import Key

Outcome = Literal["selected", "refused", "duplicate"]


@dataclass(frozen=True)
class Variant:
    """One kernel that the registry offers: who builds it, for which cell, and its spec as plain data."""

    candidate: str
    algorithm: str
    arch: str
    priority: int
    cell: Mapping[str, Any]
    spec: Mapping[str, Any]
    metadata: Mapping[str, Any]
    identity: str


@dataclass(frozen=True)
class LedgerEntry:
    """What became of one (cell, candidate, knob set)."""

    arch: str
    candidate: str
    cell: Mapping[str, Any]
    knobs: Mapping[str, Any]
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Enumeration:
    """The variants that were selected, in a stable order, and what became of everything that was asked."""

    variants: tuple[Variant, ...]
    ledger: tuple[LedgerEntry, ...]

    def counts(self) -> dict[str, int]:
        """Entries of the ledger by outcome; the sum is everything that was asked."""
        counted = Counter(entry.outcome for entry in self.ledger)
        return {outcome: counted[outcome] for outcome in ("selected", "refused", "duplicate")}


def enumerate_variants(loaded: LoadedManifest, *, space: str | None = None) -> Enumeration:
    """Walk the registry as the manifest's `enumerate:` says; `space` overrides its `space`.

    Raises:
        InputError: a candidate pattern or slice rule that matches nothing, a candidate that raises.
        Refused: the budget says no.
    """
    walk = CellWalk(loaded, load_registry(loaded))
    enumeration = _Enumerator(walk, space or loaded.manifest.enumerate.space).run()
    _check_bindings(loaded, enumeration)
    _check_budget(loaded, enumeration)
    return enumeration


def observed_metadata(spec: Any, part: Specialization) -> dict[str, Any]:
    """What the metadata of a kernel built from `spec` must say, read from the spec by the declared bindings.

    A field that this spec's class does not have is left out: the declared default stands for it.
    """
    metadata: dict[str, Any] = {}
    for name in part.metadata_fields:
        binding = part.bindings[name]
        source = binding.field or binding.method or ""
        if not hasattr(spec, source):
            continue
        value = getattr(spec, source)
        value = value() if binding.method else value
        metadata[name] = part.spelled(name, int(value) if isinstance(value, bool) else value)
    return metadata


class _Enumerator:
    """One enumeration: the walk over all cells, and the ledger of what became of each point."""

    def __init__(self, walk: CellWalk, space: str) -> None:
        self.walk = walk
        self.loaded = walk.loaded
        self.plan = walk.plan
        self.space = space
        self.variants: list[Variant] = []
        self.ledger: list[LedgerEntry] = []
        self.seen: set[tuple[str, str, str]] = set()
        self.used_rules: set[int] = set()

    def run(self) -> Enumeration:
        for arch in self.plan.candidates.arch:
            for candidate in self.walk.candidates(arch):
                for cell in self.walk.cells():
                    self.cell(candidate, arch, cell)
        if self.space == "slice":
            for i in range(len(self.plan.slice)):
                if i not in self.used_rules:
                    raise InputError(
                        "this slice rule matches no candidate and cell",
                        place=self.loaded.place("enumerate", "slice", i),
                    )
        return Enumeration(tuple(self.variants), tuple(self.ledger))

    def cell(self, candidate: Any, arch: str, cell: Mapping[str, Any]) -> None:
        request = self.walk.request(candidate, arch, cell)
        admitted, reason = self.walk.ask(candidate, cell, {}, lambda: candidate.admits(request))
        if not admitted:
            self.note(arch, candidate, cell, {}, "refused", reason)
            return
        for knobs, spec in self.points(candidate, arch, cell, request):
            if isinstance(spec, str):
                self.note(arch, candidate, cell, knobs, "refused", spec)
                continue
            identity = spec_identity(spec)
            key = (candidate.name, arch, identity)
            if key in self.seen:
                self.note(arch, candidate, cell, knobs, "duplicate", f"the same spec as another knob set ({identity})")
                continue
            self.seen.add(key)
            self.note(arch, candidate, cell, knobs, "selected", "")
            self.variants.append(
                Variant(
                    candidate=candidate.name,
                    algorithm=candidate.algorithm,
                    arch=arch,
                    priority=candidate.priority,
                    cell=dict(cell),
                    spec=asdict(spec),
                    metadata=observed_metadata(spec, self.loaded.manifest.specialization),
                    identity=identity,
                )
            )

    def points(
        self, candidate: Any, arch: str, cell: Mapping[str, Any], request: Any
    ) -> Iterator[tuple[Mapping[str, Any], Any]]:
        """(knobs, spec) for each point of the space; in place of the spec the reason why it was refused."""
        if self.space == "production":
            for spec in self.walk.ask(candidate, cell, {}, lambda: list(candidate.sweep_space(request))):
                yield dict(getattr(spec, "knobs", ())), spec
            return
        for knobs in self.knob_sets(candidate, arch, cell, request):
            yield knobs, self.walk.pinned(candidate, cell, request, knobs)

    def knob_sets(
        self, candidate: Any, arch: str, cell: Mapping[str, Any], request: Any
    ) -> Iterator[Mapping[str, Any]]:
        if self.space == "full":
            yield from self.walk.ask(candidate, cell, {}, lambda: candidate.space(request).enumerate())
            return
        known = {**cell, "arch": arch, "algorithm": candidate.algorithm}
        for i, rule in enumerate(self.plan.slice):
            for name in rule.when:
                if name not in known:
                    raise InputError(
                        f'"{name}" is no field of a cell',
                        place=self.loaded.place("enumerate", "slice", i, "when", name),
                        cure=nearest(name, known),
                    )
            if fnmatchcase(candidate.name, rule.candidate) and rule.when.items() <= known.items():
                self.used_rules.add(i)
                for j, record in enumerate(rule.knobs):
                    points = list(crossed(record))
                    self.check_knobs(candidate, cell, request, points, ("enumerate", "slice", i, "knobs", j))
                    yield from points

    def check_knobs(
        self,
        candidate: Any,
        cell: Mapping[str, Any],
        request: Any,
        points: Sequence[Mapping[str, Any]],
        at: tuple[Key, ...],
    ) -> None:
        """A knob that the candidate's space does not have is a mistake, not a point that a rule refuses."""
        if getattr(candidate, "space", None) is None:
            return
        known = self.walk.ask(candidate, cell, {}, lambda: candidate.space(request).knobs)
        for name in (name for point in points for name in point):
            if name not in known:
                raise InputError(
                    f'{candidate.name} has no knob "{name}"', place=self.loaded.place(*at), cure=nearest(name, known)
                )

    def note(
        self,
        arch: str,
        candidate: Any,
        cell: Mapping[str, Any],
        knobs: Mapping[str, Any],
        outcome: Outcome,
        reason: str,
    ) -> None:
        self.ledger.append(LedgerEntry(arch, candidate.name, dict(cell), dict(knobs), outcome, reason))


def _check_bindings(loaded: LoadedManifest, enumeration: Enumeration) -> None:
    """A field that some specs lack belongs to another algorithm; one that all of them lack is a mistake."""
    part = loaded.manifest.specialization
    seen = {name for variant in enumeration.variants for name in variant.metadata}
    for name in part.metadata_fields:
        if enumeration.variants and name not in seen:
            source = part.bindings[name].field or part.bindings[name].method or ""
            raise InputError(
                f'no kernel\'s spec has "{source}"',
                place=loaded.place("specialization", "bindings", name),
                cure=nearest(source, (field for variant in enumeration.variants for field in variant.spec)),
            )


def _check_budget(loaded: LoadedManifest, enumeration: Enumeration) -> None:
    budget = loaded.manifest.enumerate.budget
    place = loaded.place("enumerate", "budget")
    cure = "narrow the slice, or raise the budget"
    if budget.kernels is not None and len(enumeration.variants) > budget.kernels:
        raise Refused(f"{len(enumeration.variants)} kernels, the budget is {budget.kernels}", place=place, cure=cure)
    cells = Counter((v.arch, v.candidate, tuple(v.cell.items())) for v in enumeration.variants)
    for (arch, candidate, cell), count in cells.items():
        if budget.per_cell is not None and count > budget.per_cell:
            shown = ", ".join(f"{name}={value}" for name, value in cell)
            raise Refused(
                f"{count} kernels of {candidate} on {arch} in the cell {shown}, the budget is {budget.per_cell}",
                place=place,
                cure=cure,
            )
