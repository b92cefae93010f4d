"""Whether a selection serves what its registry serves: each shape is outside, declined, covered or a gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from winnow.catalog.cells import CellWalk, load_registry
from winnow.catalog.expand import Kernel
from winnow.catalog.manifest import LoadedManifest
from winnow.catalog.translate import Untranslatable, request_values
from winnow.engine.extension import Matcher, find_family
from winnow.errors import InputError, Place
from winnow.families.adapter import Declined, Field
from winnow.graphs.model import Graph
from winnow.graphs.shapes import Shape
from winnow.targets.tiers import admits_target
from winnow.wording import amount

Outcome = Literal["outside", "declined", "covered", "GAP"]
OUTCOMES: tuple[Outcome, ...] = ("outside", "declined", "covered", "GAP")


@dataclass(frozen=True)
class Asked:
    """One problem on its way to a registry: `request(arch)` gives the request, or raises Untranslatable.

    `fields(request)` gives what matchers compare.
    """

    name: str
    place: Place | None
    request: Callable[[str], Any]
    fields: Callable[[Any], Mapping[str, Field]]


@dataclass(frozen=True)
class Covered:
    """What became of one shape on one arch. `kernels` is how many selected kernels serve it."""

    shape: str
    arch: str
    outcome: Outcome
    reason: str
    kernels: int
    place: Place | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "shape": self.shape,
            "arch": self.arch,
            "outcome": self.outcome,
            "reason": self.reason,
            "kernels": self.kernels,
        }


def counts(results: Iterable[Covered]) -> dict[str, int]:
    """Results by outcome."""
    counted = Counter(result.outcome for result in results)
    return {outcome: counted[outcome] for outcome in OUTCOMES}


def vacuous(results: Sequence[Covered]) -> bool:
    """Whether nothing was a gap only because nothing was served at all."""
    return not any(result.outcome in ("covered", "GAP") for result in results)


def asked_shapes(loaded: LoadedManifest, shapes: Iterable[Shape]) -> Iterator[Asked]:
    """Shapes as problems, translated as the manifest's `coverage:` says."""
    request_fields = CellWalk(loaded, load_registry(loaded)).request_fields
    for shape in shapes:
        yield Asked(
            shape.name, shape.place, _shape_request(loaded, shape, request_fields), _request_fields(loaded, shape.place)
        )


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


def cover(
    loaded: LoadedManifest, kernels: Sequence[Kernel], problems: Iterable[Asked], arches: Sequence[str] = ()
) -> list[Covered]:
    """What becomes of each problem on each arch (none named: all of the manifest's).

    Raises:
        InputError: a candidate that raises, or that admits a problem and builds no spec for it.
    """
    walk = CellWalk(loaded, load_registry(loaded))
    manifest = loaded.manifest
    matcher = Matcher(tuple((field, rule.operator, rule.against(field)) for field, rule in manifest.match.items()))
    complete = [
        (kernel, {f.name: kernel.metadata.get(f.name, f.default_value) for f in manifest.kmd_fields})
        for kernel in kernels
    ]
    wanted = list(arches) or walk.plan.candidates.arch
    on_arch = {
        arch: [(kernel.name, m) for kernel, m in complete if arch in kernel.arch or admits_target(kernel.arch, arch)]
        for arch in wanted
    }
    return [_cover(walk, matcher, on_arch[arch], problem, arch) for problem in problems for arch in wanted]


def _cover(
    walk: CellWalk, matcher: Matcher, offered: Sequence[tuple[str, Mapping[str, Any]]], problem: Asked, arch: str
) -> Covered:
    try:
        request = problem.request(arch)
    except Untranslatable as why_not:
        return Covered(problem.name, arch, "outside", str(why_not), 0, problem.place)
    outcome, reason = _registry_says(walk, request, problem.name, arch)
    fields = problem.fields(request)
    misses = {name: list(matcher.misses(metadata, fields)) for name, metadata in offered}
    serving = list(misses.values()).count([])
    if outcome == "GAP" and serving:
        return Covered(problem.name, arch, "covered", reason, serving, problem.place)
    if outcome == "GAP":
        reason = f"{reason} serves it; {_nearest_miss(misses) or f'no kernel is for {arch}'}"
    elif serving:
        reason += f" (and yet it is matched by {amount(serving, 'selected kernels')})"
    return Covered(problem.name, arch, outcome, reason, serving, problem.place)


def _nearest_miss(misses: Mapping[str, Sequence[str]]) -> str | None:
    """The kernel that fails the fewest comparisons, the first of those, with all that it fails."""
    if not misses:
        return None
    name = min(misses, key=lambda name: len(misses[name]))
    return f"of {amount(len(misses), 'kernels')} {name} comes nearest: {'; '.join(misses[name])}"


def _registry_says(walk: CellWalk, request: Any, name: str, arch: str) -> tuple[Outcome, str]:
    """GAP with the candidate that serves the request, for as long as no kernel is known to; else who refuses why."""
    refused: dict[bool, list[str]] = {True: [], False: []}
    for candidate in walk.candidates(arch):
        reason = walk.not_reached(candidate)
        if reason is None:
            probe = replace(request, **{**walk.selectors(candidate), **_pins(walk)})
            reason = walk.admits(candidate, {"shape": name}, {}, probe)
            if reason is None:
                walk.selected(candidate, {"shape": name}, {}, probe)
                return "GAP", candidate.name
        by_capability = reason.lower().startswith(("capability", "opt-in", "algorithm ", "spec_id "))
        refused[by_capability].append(f"{candidate.name}: {reason}")
    if refused[False]:
        return "declined", "; ".join(refused[False])
    return "outside", "; ".join(refused[True])


def _pins(walk: CellWalk) -> dict[str, Any]:
    return {name: value for name, value in walk.plan.pin.items() if name in ("algorithm", "spec_id")}


def _shape_request(loaded: LoadedManifest, shape: Shape, known: list[str]) -> Callable[[str], Any]:
    walk = CellWalk(loaded, load_registry(loaded))

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
