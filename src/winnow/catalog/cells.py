"""The manifest's cells and candidates: which questions a registry is asked, by its contract alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from fnmatch import fnmatchcase
from typing import Any

from winnow.catalog.manifest import Crossed, LoadedManifest
from winnow.catalog.references import resolve
from winnow.errors import InputError, nearest
from winnow.registry import selector_matches


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


class CellWalk:
    """The manifest's cells and candidates, and the questions that one asks of a candidate."""

    def __init__(self, loaded: LoadedManifest, registry: Any) -> None:
        self.loaded = loaded
        self.plan = loaded.manifest.enumerate
        self.registry = registry
        self.request_type = resolve(self.plan.request, loaded.place("enumerate", "request"))

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
        """The request that a cell is, with the candidate's algorithm pinned."""
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

    def pinned(self, candidate: Any, cell: Mapping[str, Any], request: Any, knobs: Mapping[str, Any]) -> Any:
        """The spec for a request with these knobs pinned; in its place the reason why it is refused."""
        probe = replace(request, tuning_knobs=tuple(sorted(knobs.items())))
        try:
            admitted, reason = self.ask(candidate, cell, knobs, lambda: candidate.admits(probe))
            return self.ask(candidate, cell, knobs, lambda: candidate.select_spec(probe)) if admitted else reason
        except ValueError as error:
            return str(error)

    def offered(self, candidate: Any, arch: str, cell: Mapping[str, Any], spec: Mapping[str, Any]) -> Any:
        """The candidate's own spec for the knob values of `spec`; in its place the reason why it has none."""
        request = self.request(candidate, arch, cell)
        admitted, reason = self.ask(candidate, cell, {}, lambda: candidate.admits(request))
        if not admitted:
            return reason
        if getattr(candidate, "space", None) is not None:
            knobs = self.ask(candidate, cell, {}, lambda: candidate.space(request).knobs)
            return self.pinned(candidate, cell, request, {name: spec[name] for name in knobs if name in spec})
        for own in self.ask(candidate, cell, {}, lambda: list(candidate.sweep_space(request))):
            if asdict(own) == dict(spec):
                return own
        return "no spec of the candidate's sweep space is equal"

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
