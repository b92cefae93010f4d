"""Whether a selection serves what its registry serves: each shape is outside, declined, covered or a gap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from winnow.coverage.asked import Asked
from winnow.errors import Place
from winnow.runtime.matching import Matcher
from winnow.selection.cells import CellWalk
from winnow.selection.kernel import Kernel
from winnow.selection.translate import Untranslatable
from winnow.targets.tiers import admits_target
from winnow.wording import amount

Outcome = Literal["outside", "declined", "covered", "GAP"]
OUTCOMES: tuple[Outcome, ...] = ("outside", "declined", "covered", "GAP")


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


def counts(results: Iterable[Covered]) -> dict[Outcome, int]:
    """Results by outcome."""
    counted = Counter(result.outcome for result in results)
    return {outcome: counted[outcome] for outcome in OUTCOMES}


def vacuous(results: Sequence[Covered]) -> bool:
    """Whether nothing was a gap only because nothing was served at all."""
    return not any(result.outcome in ("covered", "GAP") for result in results)


def cover(
    walk: CellWalk, kernels: Sequence[Kernel], problems: Iterable[Asked], arches: Sequence[str] = ()
) -> list[Covered]:
    """What becomes of each problem on each arch (none named: all of the manifest's).

    Raises:
        InputError: a candidate that raises, or that admits a problem and builds no spec for it.
    """
    manifest = walk.loaded.manifest
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
