"""Registry → variants: every cell, candidate and knob set ends as selected or refused, with its reason."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from winnow.catalog.header import Specialization
from winnow.catalog.manifest import Crossed, LoadedManifest
from winnow.catalog.references import resolve
from winnow.errors import InputError, Refused, nearest
from winnow.identity import spec_identity
from winnow.registry import selector_matches

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


def crossed(record: Crossed) -> Iterator[dict[str, Any]]:
    """Lists are crossed, in their order; a list of mappings is crossed as one unit."""
    names = list(record)
    for values in itertools.product(*(v if isinstance(v, list) else [v] for v in record.values())):
        point: dict[str, Any] = {}
        for name, value in zip(names, values, strict=True):
            point |= value if isinstance(value, dict) else {name: value}
        yield point


def load_registry(loaded: LoadedManifest) -> Any:
    """The registry that the manifest names: an object, or a function that returns one."""
    named = resolve(loaded.manifest.enumerate.registry, loaded.place("enumerate", "registry"))
    return named() if callable(named) and not hasattr(named, "candidates") else named


def enumerate_variants(loaded: LoadedManifest, *, space: str | None = None) -> Enumeration:
    """Walk the registry as the manifest's `enumerate:` says; `space` overrides its `space`.

    Raises:
        InputError: a candidate pattern or slice rule that matches nothing, a candidate that raises.
        Refused: the budget says no.
    """
    walk = _Walk(loaded, load_registry(loaded), space or loaded.manifest.enumerate.space)
    enumeration = walk.run()
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


class _Walk:
    """One walk over one registry."""

    def __init__(self, loaded: LoadedManifest, registry: Any, space: str) -> None:
        self.loaded = loaded
        self.plan = loaded.manifest.enumerate
        self.registry = registry
        self.space = space
        self.request_type = resolve(self.plan.request, loaded.place("enumerate", "request"))
        self.variants: list[Variant] = []
        self.ledger: list[LedgerEntry] = []
        self.seen: set[tuple[str, str, str]] = set()
        self.used_rules: set[int] = set()

    def run(self) -> Enumeration:
        for arch in self.plan.candidates.arch:
            for candidate in self.candidates(arch):
                for cell in (point for record in self.plan.cells for point in crossed(record)):
                    self.cell(candidate, arch, cell)
        if self.space == "slice":
            for i in range(len(self.plan.slice)):
                if i not in self.used_rules:
                    raise InputError(
                        "this slice rule matches no candidate and cell",
                        place=self.loaded.place("enumerate", "slice", i),
                    )
        return Enumeration(tuple(self.variants), tuple(self.ledger))

    def candidates(self, arch: str) -> list[Any]:
        wanted = self.plan.candidates
        everything = list(self.registry.candidates())
        for i, pattern in enumerate(wanted.names):
            if not any(fnmatchcase(candidate.name, pattern) for candidate in everything):
                raise InputError(
                    f'no candidate is called "{pattern}"',
                    place=self.loaded.place("enumerate", "candidates", "names", i),
                    cure=nearest(pattern, (candidate.name for candidate in everything)),
                )
        chosen = [
            candidate
            for candidate in everything
            if any(fnmatchcase(candidate.name, pattern) for pattern in wanted.names)
            and selector_matches(wanted.algorithm, candidate.algorithm)
            and arch in candidate.capability.arches
        ]
        if not chosen:
            known = {name for candidate in everything for name in candidate.capability.arches}
            raise InputError(
                f'no candidate runs on "{arch}"',
                place=self.loaded.place("enumerate", "candidates", "arch"),
                cure=nearest(arch, known),
            )
        return chosen

    def request(self, candidate: Any, arch: str, cell: Mapping[str, Any]) -> Any:
        values = {**self.plan.pin, **self.plan.fixed, **cell}
        mapped = {target: value for name, value in values.items() for target in self.plan.field_map.get(name, [name])}
        known = {field.name for field in fields(self.request_type)}
        for name in mapped:
            if name not in known:
                raise InputError(
                    f'"{name}" is no field of {self.plan.request}',
                    place=self.loaded.place("enumerate", "cells"),
                    cure=nearest(name, known),
                )
        selectors = {"algorithm": candidate.algorithm, "spec_id": candidate.spec_id}
        return self.request_type(arch=arch, **{k: v for k, v in selectors.items() if k in known}, **mapped)

    def cell(self, candidate: Any, arch: str, cell: Mapping[str, Any]) -> None:
        request = self.request(candidate, arch, cell)
        admitted, reason = self.ask(candidate, cell, {}, lambda: candidate.admits(request))
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
            for spec in self.ask(candidate, cell, {}, lambda: list(candidate.sweep_space(request))):
                yield dict(getattr(spec, "knobs", ())), spec
            return
        for knobs in self.knob_sets(candidate, arch, cell, request):
            pinned = replace(request, tuning_knobs=tuple(sorted(knobs.items())))
            admitted, reason = self.ask(candidate, cell, knobs, lambda pinned=pinned: candidate.admits(pinned))
            if not admitted:
                yield knobs, reason
                continue
            try:
                yield knobs, self.ask(candidate, cell, knobs, lambda pinned=pinned: candidate.select_spec(pinned))
            except ValueError as error:
                yield knobs, str(error)

    def knob_sets(
        self, candidate: Any, arch: str, cell: Mapping[str, Any], request: Any
    ) -> Iterator[Mapping[str, Any]]:
        if self.space == "full":
            yield from self.ask(candidate, cell, {}, lambda: candidate.space(request).enumerate())
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
                for record in rule.knobs:
                    yield from crossed(record)

    def ask(self, candidate: Any, cell: Mapping[str, Any], knobs: Mapping[str, Any], question: Any) -> Any:
        """Ask a candidate something; what it raises, other than a refusal of a pin, is an error that names it."""
        try:
            return question()
        except ValueError:
            raise
        except Exception as error:
            shown = ", ".join(f"{name}={value}" for name, value in {**cell, **knobs}.items())
            raise InputError(
                f"candidate {candidate.name} raised {type(error).__name__}: {error} (cell {shown})",
                place=self.loaded.place("enumerate", "registry"),
            ) from error

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
