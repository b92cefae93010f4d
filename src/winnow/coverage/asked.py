"""Shapes and graphs as problems to ask a registry about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from winnow.errors import InputError, Place
from winnow.families.adapter import Declined, Field
from winnow.families.find import find_family
from winnow.graphs.model import Graph
from winnow.graphs.shapes import Shape
from winnow.selection.cells import CellWalk
from winnow.selection.translate import Untranslatable, request_values
from winnow.settings.manifest import LoadedManifest


@dataclass(frozen=True)
class Asked:
    """One problem on its way to a registry: `request(arch)` gives the request, or raises Untranslatable.

    `fields(request)` gives what matchers compare.
    """

    name: str
    place: Place | None
    request: Callable[[str], Any]
    fields: Callable[[Any], Mapping[str, Field]]


def asked_shapes(walk: CellWalk, shapes: Iterable[Shape]) -> Iterator[Asked]:
    """Shapes as problems, translated as the manifest's `coverage:` says."""
    for shape in shapes:
        yield Asked(shape.name, shape.place, _shape_request(walk, shape), _request_fields(walk.loaded, shape.place))


def asked_graphs(loaded: LoadedManifest, graphs: Iterable[Graph]) -> Iterator[Asked]:
    """Graphs as problems, through the family's adapter. Raises InputError when the family is not installed."""
    adapter = find_family(loaded.manifest.family, loaded.place("family"))
    for graph in graphs:
        try:
            problem = adapter.problem(graph)
        except Declined as reason:
            yield Asked(graph.name, None, _never(f"the family declines it: {reason}"), lambda _: {})
            continue
        yield Asked(
            graph.name,
            None,
            lambda arch, problem=problem: adapter.request(problem, arch),  # type: ignore[misc]
            lambda _, problem=problem: problem.fields,  # type: ignore[misc]
        )


def _shape_request(walk: CellWalk, shape: Shape) -> Callable[[str], Any]:
    loaded, known = walk.loaded, walk.request_fields

    def request(arch: str) -> Any:
        values = {**loaded.manifest.enumerate.pin, **request_values(loaded, shape.fields, known, shape.place)}
        try:
            return walk.request_type(arch=arch, **values)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{loaded.manifest.enumerate.request} takes no such request: {error}", place=shape.place
            ) from error

    return request


def _request_fields(loaded: LoadedManifest, place: Place) -> Callable[[Any], Mapping[str, Field]]:
    """What matchers compare, read from a request: its fields and dims, in the spelling of the metadata."""
    manifest = loaded.manifest

    def read(request: Any) -> dict[str, Field]:
        dims = request.dims() if hasattr(request, "dims") else {}
        found: dict[str, Field] = {}
        for name, rule in manifest.match.items():
            if rule.operator == "any":
                continue
            sources = manifest.enumerate.field_map.get(name, [name])
            value = getattr(request, sources[0], dims.get(name))
            if value is None:
                raise InputError(
                    f'match compares "{name}", which requests do not say',
                    place=loaded.place("match", name),
                    cure="name the request's field in enumerate.field_map, or check graphs with --corpus",
                )
            plain = int(value) if isinstance(value, bool) else value
            found[name] = manifest.specialization.spelled(rule.against(name), plain)
        return found

    return read


def _never(reason: str) -> Callable[[str], Any]:
    def request(arch: str) -> Any:
        raise Untranslatable(reason)

    return request
