"""Registry → variants: every cell, candidate and knob set ends as selected, refused or over budget, with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from winnow.errors import InputError, nearest
from winnow.identity import spec_identity
from winnow.selection.budget import CellKey, Meter
from winnow.selection.cells import CellWalk, crossed, load_registry, shown_cell
from winnow.selection.enumeration import Enumeration, LedgerEntry, Outcome, Variant
from winnow.selection.project import not_projected, observed_metadata, plain_spec
from winnow.settings.manifest import LoadedManifest
from winnow.strict.document import Key


def enumerate_variants(loaded: LoadedManifest, *, space: str | None = None) -> Enumeration:
    """`walk_registry`, within the budget.

    Raises:
        InputError: as `walk_registry` does.
        Refused: the budget says no.
    """
    enumeration = walk_registry(loaded, space=space)
    if enumeration.over is not None:
        raise enumeration.over
    return enumeration


def walk_registry(loaded: LoadedManifest, *, space: str | None = None) -> Enumeration:
    """Walk the registry as the manifest's `enumerate:` says; `space` overrides its `space`.

    Raises:
        InputError: a candidate pattern, slice rule or allowance that matches nothing; a candidate that raises, or that
            admits a request and builds no spec for it; a spec field that varies and cannot be projected.
    """
    walk = CellWalk(loaded, load_registry(loaded))
    enumeration = _Enumerator(walk, space or loaded.manifest.enumerate.space).run()
    if enumeration.over is None:
        _check_bindings(loaded, enumeration)
        _check_projection(loaded, enumeration)
    return enumeration


class _Enumerator:
    """One enumeration: the walk over all cells, and the ledger of what became of each point."""

    def __init__(self, walk: CellWalk, space: str) -> None:
        self.walk = walk
        self.loaded = walk.loaded
        self.plan = walk.plan
        self.space = space
        self.meter = Meter(walk.loaded)
        self.variants: list[Variant] = []
        self.ledger: list[LedgerEntry] = []
        self.seen: set[tuple[str, str, str]] = set()
        self.used_rules: set[int] = set()

    def run(self) -> Enumeration:
        self.walk.check_builders()
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
        self.meter.check_allowances()
        return Enumeration(tuple(self.variants), tuple(self.ledger), self.meter.refusal(), tuple(self.meter.allowed()))

    def cell(self, candidate: Any, arch: str, cell: Mapping[str, Any]) -> None:
        reason = self.walk.not_reached(candidate)
        if reason is not None:
            self.note(arch, candidate, cell, {}, "refused", reason)
            return
        request = self.walk.request(candidate, arch, cell)
        reason = self.walk.admits(candidate, cell, {}, request)
        if reason is not None:
            self.note(arch, candidate, cell, {}, "refused", reason)
            return
        points = self.points(candidate, arch, cell, request)
        if self.space == "full":
            self.full(candidate, arch, cell, request, points)
            return
        for knobs, spec in points:
            self.point(candidate, arch, cell, knobs, spec)

    def full(
        self,
        candidate: Any,
        arch: str,
        cell: Mapping[str, Any],
        request: Any,
        points: Iterator[tuple[Mapping[str, Any], Any]],
    ) -> None:
        """Ask about points while there is room; the rest of a space is counted, for it may be too large to list."""
        total = self.walk.ask(candidate, cell, {}, self.walk.space(candidate, cell, request).count)
        asked = 0
        if not self.walk.takes_pins:
            raise InputError(
                f"{self.plan.request} has no tuning_knobs, so no point of a space can be asked for",
                place=self.loaded.place("enumerate", "space"),
                cure="use the space `production` or `slice`",
            )
        while self.meter.room(_key(arch, candidate, cell)) and (told := next(points, None)) is not None:
            self.point(candidate, arch, cell, *told)
            asked += 1
        room = self.meter.room(_key(arch, candidate, cell))
        if asked > total or (room and asked < total):
            raise InputError(
                f"the space of {candidate.name} counts {total:,} points and lists {asked:,} (cell {shown_cell(cell)})",
                place=self.loaded.place("enumerate", "registry"),
            )
        if asked < total:
            reason = "the budget has no room; not asked one by one"
            self.note(arch, candidate, cell, {}, "over budget", reason, points=total - asked)
            self.meter.count(_key(arch, candidate, cell), total - asked)

    def point(self, candidate: Any, arch: str, cell: Mapping[str, Any], knobs: Mapping[str, Any], spec: Any) -> None:
        if isinstance(spec, str):
            self.note(arch, candidate, cell, knobs, "refused", spec)
            return
        identity = self.walk.ask(candidate, cell, knobs, lambda: spec_identity(spec))
        if (candidate.name, arch, identity) in self.seen:
            self.note(arch, candidate, cell, knobs, "duplicate", f"the same spec as another knob set ({identity})")
            return
        self.seen.add((candidate.name, arch, identity))
        room = self.meter.room(_key(arch, candidate, cell))
        self.meter.count(_key(arch, candidate, cell))
        if not room:
            self.note(arch, candidate, cell, knobs, "over budget", "the budget has no room")
            return
        plain = self.walk.ask(candidate, cell, knobs, lambda: plain_spec(spec, self.plan.accessors))
        metadata = self.walk.ask(candidate, cell, knobs, lambda: observed_metadata(spec, self.loaded))
        self.note(arch, candidate, cell, knobs, "selected", "")
        self.variants.append(
            Variant(
                candidate=candidate.name,
                algorithm=candidate.algorithm,
                arch=arch,
                priority=candidate.priority,
                builder=self.walk.builder(candidate),
                cell=dict(cell),
                spec=plain,
                metadata=metadata,
                identity=identity,
            )
        )

    def points(
        self, candidate: Any, arch: str, cell: Mapping[str, Any], request: Any
    ) -> Iterator[tuple[Mapping[str, Any], Any]]:
        """(knobs, spec) for each point of the space; in place of the spec the reason why it was refused."""
        if self.space == "production":
            for spec in self.walk.swept(candidate, cell, request):
                yield dict(getattr(spec, "knobs", ())), spec
            return
        if self.space == "full":
            space = self.walk.space(candidate, cell, request)
            listed = self.walk.ask(candidate, cell, {}, lambda: iter(space.enumerate()))
            while (knobs := self.walk.ask(candidate, cell, {}, lambda: next(listed, None))) is not None:
                yield knobs, self.walk.pinned(candidate, cell, request, knobs)
            return
        authored = list(self.authored(candidate, arch, cell, request))
        if not authored:
            yield {}, "no slice rule is for this candidate and cell"
        for knobs in authored:
            if self.walk.takes_pins:
                yield knobs, self.walk.pinned(candidate, cell, request, knobs)
            else:
                yield from self.chosen(candidate, cell, request, knobs)

    def chosen(
        self, candidate: Any, cell: Mapping[str, Any], request: Any, knobs: Mapping[str, Any]
    ) -> Iterator[tuple[Mapping[str, Any], Any]]:
        """Where requests cannot pin knobs: the production specs that have these values."""
        found = [
            spec
            for spec in self.walk.swept(candidate, cell, request)
            if all(hasattr(spec, name) and getattr(spec, name) == value for name, value in knobs.items())
        ]
        yield from ((knobs, spec) for spec in found)
        if not found:
            yield knobs, f"no spec of the sweep space has {shown_cell(knobs)}"

    def authored(self, candidate: Any, arch: str, cell: Mapping[str, Any], request: Any) -> Iterator[Mapping[str, Any]]:
        """The knob sets that the manifest's slice rules say for a cell."""
        known = {**cell, "arch": arch, "algorithm": candidate.algorithm}
        for i, rule in enumerate(self.plan.slice):
            for name in rule.when:
                if name not in known:
                    raise InputError(
                        f'"{name}" is not a field of a cell',
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
        known = self.walk.space(candidate, cell, request).knobs
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
        points: int = 1,
    ) -> None:
        self.ledger.append(LedgerEntry(arch, candidate.name, dict(cell), dict(knobs), outcome, reason, points))


def _key(arch: str, candidate: Any, cell: Mapping[str, Any]) -> CellKey:
    return CellKey(arch, candidate.name, tuple(cell.items()))


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


def _check_projection(loaded: LoadedManifest, enumeration: Enumeration) -> None:
    """What varies between kernels of one candidate on one arch must show in their metadata."""
    part = loaded.manifest.specialization
    for (arch, candidate), group in groupby(enumeration.variants, key=lambda v: (v.arch, v.candidate)):
        members = list(group)
        name = not_projected([v.spec for v in members], [v.metadata for v in members], part)
        if name is not None:
            raise InputError(
                f"candidate {candidate}: {name} varies on {arch} and no metadata field is bound to it, so kernels that "
                f"differ in it only would be one to every matcher (cell {shown_cell(members[0].cell)})",
                place=loaded.place("specialization", "bindings"),
                cure=f"declare {name} in kmd_fields and in specialization, with a binding {{field: {name}}}",
            )
