"""The manifest's cells and candidates: which questions a registry is asked, by its contract alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from winnow.errors import InputError, WinnowError, nearest
from winnow.registry import selector_matches
from winnow.selection.project import plain_spec
from winnow.selection.references import resolve
from winnow.settings.enumeration import BuilderRef, Crossed
from winnow.settings.manifest import LoadedManifest

T = TypeVar("T")


def crossed(record: Crossed) -> Iterator[dict[str, Any]]:
    """Lists are crossed, in their order; a list of mappings is crossed as one unit."""
    names = list(record)
    for values in itertools.product(*(v if isinstance(v, list) else [v] for v in record.values())):
        point: dict[str, Any] = {}
        for name, value in zip(names, values, strict=True):
            point |= value if isinstance(value, dict) else {name: value}
        yield point


def shown_cell(cell: Mapping[str, Any]) -> str:
    """A cell, or a knob set, as messages show it."""
    return ", ".join(f"{name}={value}" for name, value in cell.items())


def load_registry(loaded: LoadedManifest) -> Any:
    """The registry that the manifest names: an object, or a function that returns one."""
    named = resolve(loaded.manifest.enumerate.registry, loaded.place("enumerate", "registry"))
    return named() if callable(named) and not hasattr(named, "candidates") else named


class CellWalk:
    """The manifest's cells and candidates, and the questions that one asks of a candidate."""

    def __init__(self, loaded: LoadedManifest, registry: Any) -> None:
        self.loaded = loaded
        self.plan = loaded.manifest.enumerate
        self.registry = registry
        self.request_type = resolve(self.plan.request, loaded.place("enumerate", "request"))
        self.request_fields = [field.name for field in fields(self.request_type)]

    def cells(self) -> Iterator[dict[str, Any]]:
        """Every cell, in the manifest's order."""
        return (point for record in self.plan.cells for point in crossed(record))

    def candidates(self, arch: str) -> list[Any]:
        """The candidates that the manifest takes on an arch, in the registry's order."""
        wanted = self.plan.candidates
        everything = list(self.registry.candidates())
        for i, pattern in enumerate(wanted.names):
            if not any(fnmatchcase(candidate.name, pattern) for candidate in everything):
                raise InputError(
                    f'no candidate is called "{pattern}"',
                    place=self.loaded.place("enumerate", "candidates", "names", i),
                    cure=nearest(pattern, (candidate.name for candidate in everything)),
                )
        algorithms = [candidate.algorithm for candidate in everything]
        if not any(selector_matches(wanted.algorithm, own) for own in algorithms):
            raise InputError(
                f'no candidate has the algorithm "{wanted.algorithm}"',
                place=self.loaded.place("enumerate", "candidates", "algorithm"),
                cure=nearest(wanted.algorithm, algorithms),
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

    def check_builders(self) -> None:
        """Raises InputError for an entry of `builders` whose candidate the registry does not have."""
        names = [candidate.name for candidate in self.registry.candidates()]
        for name in self.plan.builders:
            if name not in names:
                raise InputError(
                    f'no candidate is called "{name}"',
                    place=self.loaded.place("enumerate", "builders", name),
                    cure=nearest(name, names),
                )

    def builder(self, candidate: Any) -> BuilderRef:
        """Where a candidate's builder lives: as the manifest says, else where the candidate's own function does.

        Raises:
            InputError: neither says so.
        """
        stated = self.plan.builders.get(candidate.name)
        if stated is not None:
            return stated
        own = getattr(candidate, "builder", None)
        if own is None or not hasattr(own, "__qualname__"):
            raise InputError(
                f"nothing says which function builds the kernels of {candidate.name}",
                place=self.loaded.place("enumerate", "builders"),
                cure=f"add {candidate.name}: {{source: MODULE, builder: FUNCTION}}",
            )
        return BuilderRef(source=own.__module__, builder=own.__qualname__)

    def not_reached(self, candidate: Any) -> str | None:
        """Why the manifest's pins leave a candidate out, or None where they do not.

        An opt-in candidate is reached only where the manifest pins its algorithm: `auto` and a name pattern do not.
        """
        for selector, own in (("algorithm", candidate.algorithm), ("spec_id", candidate.spec_id)):
            wanted = str(self.plan.pin.get(selector, "auto"))
            if not selector_matches(wanted, own):
                return f"{selector} {wanted} is pinned"
        pins = (str(self.plan.pin.get("algorithm", "auto")), self.plan.candidates.algorithm)
        if getattr(candidate, "opt_in", False) and all(pin.strip().lower() == "auto" for pin in pins):
            return "opt-in: pin its algorithm to reach it"
        return None

    def request(self, candidate: Any, arch: str, cell: Mapping[str, Any]) -> Any:
        """The request that a cell is, with the candidate's algorithm and spec id pinned."""
        values = {**self.plan.pin, **self.plan.fixed, **cell}
        mapped = {target: value for name, value in values.items() for target in self.plan.field_map.get(name, [name])}
        for name in mapped:
            if name not in self.request_fields:
                raise InputError(
                    f'"{name}" is not a field of {self.plan.request}',
                    place=self.loaded.place("enumerate", "cells"),
                    cure=nearest(name, self.request_fields),
                )
        try:
            return self.request_type(arch=arch, **{**self.selectors(candidate), **mapped})
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.plan.request} takes no such request: {error} (cell {shown_cell(cell)})",
                place=self.loaded.place("enumerate", "cells"),
                cure="say every field that requests need, in cells or in fixed",
            ) from error

    def selectors(self, candidate: Any) -> dict[str, str]:
        """What pins a candidate in a request, as far as requests have such fields."""
        own = {"algorithm": candidate.algorithm, "spec_id": candidate.spec_id}
        return {name: value for name, value in own.items() if name in self.request_fields}

    def admits(self, candidate: Any, cell: Mapping[str, Any], knobs: Mapping[str, Any], request: Any) -> str | None:
        """Why the candidate refuses the request, or None where it admits it."""
        admitted, reason = self.ask(candidate, cell, knobs, lambda: candidate.admits(request))
        return None if admitted else str(reason)

    def selected(self, candidate: Any, cell: Mapping[str, Any], knobs: Mapping[str, Any], request: Any) -> Any:
        """The candidate's spec for a request that it admits.

        Raises:
            InputError: it has none after all.
        """
        try:
            return candidate.select_spec(request)
        except Exception as error:
            raise InputError(
                f"candidate {candidate.name} admits this and then builds no spec: {error} "
                f"(cell {shown_cell({**cell, **knobs})})",
                place=self.loaded.place("enumerate", "registry"),
                cure="its predicate must refuse what its policy cannot build",
            ) from error

    def pinned(self, candidate: Any, cell: Mapping[str, Any], request: Any, knobs: Mapping[str, Any]) -> Any:
        """The spec for a request with these knobs pinned; in its place the reason why it is refused."""
        pins = tuple(sorted(knobs.items()))
        probe = self.ask(candidate, cell, knobs, lambda: replace(request, tuning_knobs=pins))
        reason = self.admits(candidate, cell, knobs, probe)
        return self.selected(candidate, cell, knobs, probe) if reason is None else reason

    def swept(self, candidate: Any, cell: Mapping[str, Any], request: Any) -> list[Any]:
        """The candidate's production specs for a request that it admits; its one spec where it sweeps nothing."""
        specs = self.ask(candidate, cell, {}, lambda: list(candidate.sweep_space(request)))
        return specs or [self.selected(candidate, cell, {}, request)]

    def space(self, candidate: Any, cell: Mapping[str, Any], request: Any) -> Any:
        """The candidate's whole tuning space for a request.

        Raises:
            InputError: it has none.
        """
        if getattr(candidate, "space", None) is None:
            raise InputError(
                f"candidate {candidate.name} has no tuning space",
                place=self.loaded.place("enumerate", "space"),
                cure="use the space `production` or `slice`",
            )
        return self.ask(candidate, cell, {}, lambda: candidate.space(request))

    @property
    def takes_pins(self) -> bool:
        """Whether requests can pin knobs."""
        return "tuning_knobs" in self.request_fields

    def offered(self, candidate: Any, arch: str, cell: Mapping[str, Any], spec: Mapping[str, Any]) -> Any:
        """The candidate's own spec for the knob values of `spec`; in its place the reason why it has none."""
        reason = self.not_reached(candidate)
        if reason is not None:
            return reason
        request = self.request(candidate, arch, cell)
        reason = self.admits(candidate, cell, {}, request)
        if reason is not None:
            return reason
        if self.takes_pins and getattr(candidate, "space", None) is not None:
            knobs = self.space(candidate, cell, request).knobs
            return self.pinned(candidate, cell, request, {name: spec[name] for name in knobs if name in spec})
        specs = self.swept(candidate, cell, request)
        plain = self.ask(candidate, cell, {}, lambda: [plain_spec(own, self.plan.accessors) for own in specs])
        for own, fields_of_own in zip(specs, plain, strict=True):
            if fields_of_own == dict(spec):
                return own
        return "no spec of the candidate's sweep space is equal"

    def ask(self, candidate: Any, cell: Mapping[str, Any], knobs: Mapping[str, Any], question: Callable[[], T]) -> T:
        """Ask a candidate something; whatever it raises is an error that names the candidate and the cell."""
        shown = f"(cell {shown_cell({**cell, **knobs})})"
        try:
            return question()
        except WinnowError as error:
            place = error.place or self.loaded.place("enumerate", "registry")
            message = f"candidate {candidate.name}: {error.message} {shown}"
            raise InputError(message, place=place, cure=error.cure) from error
        except Exception as error:
            raise InputError(
                f"candidate {candidate.name} raised {type(error).__name__}: {error} {shown}",
                place=self.loaded.place("enumerate", "registry"),
            ) from error
