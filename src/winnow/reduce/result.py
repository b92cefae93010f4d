"""The reduction as a whole: from an evidence and the manifest's thresholds to one value that says everything."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from winnow.errors import InputError, Refused
from winnow.evidence.evidence import Evidence
from winnow.evidence.rounds import median_of_known
from winnow.reduce.frontier import FrontierPoint, frontier
from winnow.reduce.holdout import HeldOut, held_out
from winnow.reduce.knob_rules import KnobRules, knob_rules
from winnow.reduce.matrix import Matrix, matrix_of
from winnow.reduce.noise import GraphNoise, graph_noise
from winnow.reduce.policy import MustKeep, admission, must_keep
from winnow.reduce.score import Score, fastest, first_ranked, retained, score
from winnow.reduce.solve import Infeasible, best_under, fewest, smallest_size
from winnow.reduce.witness import Dropped, Kept, drop_reasons, kept_reasons
from winnow.settings.matching import Comparison
from winnow.settings.reduction import Reduction
from winnow.wording import amount


@dataclass(frozen=True)
class GraphVerdict:
    """One graph after the reduction. `slowdown` and `retained` compare the kernel that is kept for it with the best
    of all: the first as chosen (time over best time, minus 1), the second out of sample (best time over time)."""

    graph: str
    id: str
    kernel: str
    best: str
    spread: float
    epsilon: float
    resolved: bool
    slowdown: float
    within: bool
    retained: float


@dataclass(frozen=True)
class Scores:
    """Retained performance of the kept set, out of sample.

    `chosen` compares with all kernels, both choosing by the even rounds. `hindsight` compares with the fastest of the
    rounds that score, which is partly luck, and so is a lower bound. `ranked` compares what the engine's own ranking
    picks from the kept set with what it picks from all, `guessed` what it picks from the kept set with the best of
    all. `held_out` serves each graph by a set that was chosen without it.
    """

    chosen: Score
    hindsight: Score
    ranked: Score | None
    guessed: Score | None
    held_out: HeldOut | None


@dataclass(frozen=True)
class ReductionResult:
    """What is kept and why. `needed` kernels keep every graph within its epsilon; `budget` may allow fewer."""

    engine: str
    arch: str
    corpus: str
    fingerprint: Mapping[str, str | int]
    rounds: int
    needed: int
    budget: int | None
    kept: tuple[Kept, ...]
    dropped: tuple[Dropped, ...]
    graphs: tuple[GraphVerdict, ...]
    unserved: tuple[str, ...]
    uncovered: tuple[str, ...]
    unjudged: tuple[str, ...]
    scores: Scores
    frontier: tuple[FrontierPoint, ...]
    rules: KnobRules

    @property
    def outside(self) -> tuple[str, ...]:
        """Graphs that leave their epsilon because the budget is too small."""
        return tuple(verdict.graph for verdict in self.graphs if not verdict.within)

    @property
    def refused(self) -> bool:
        """Whether the kept set falls short: of a graph's epsilon, or of problems that only failing kernels admit."""
        return bool(self.outside or self.uncovered)

    @property
    def kept_names(self) -> frozenset[str]:
        """Names of the kernels that stay."""
        return frozenset(kept.kernel for kept in self.kept)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self) | {"outside": list(self.outside), "refused": self.refused}


def reduce_evidence(
    evidence: Evidence,
    reduction: Reduction,
    match: Mapping[str, Comparison],
    *,
    incumbents: Collection[str] = (),
) -> ReductionResult:
    """Choose the fewest kernels that keep every graph within its noise of the best, or the best under the budget.

    The even rounds choose, the odd rounds score. `incumbents` are names of kernels that ship today and are preferred
    among equals.

    Raises:
        InputError: an incumbent or a threshold that does not fit the evidence.
        Refused: no graph is served by a kernel that passed, or the budget is too small even to serve every graph.
    """
    _check(evidence, reduction, incumbents)
    noise = graph_noise(evidence, reduction.noise)
    keep = must_keep(evidence, match, reduction)
    matrix = matrix_of(evidence, noise, keep, incumbents=incumbents, tie=reduction.noise.tie)
    if not matrix.graphs:
        raise Refused(
            f"no kernel that passed everywhere serves a graph of {evidence.corpus}",
            cure="the ledger of `winnow sweep` says what failed",
        )
    needed = fewest(matrix.choice)
    budget = reduction.budget.variants
    kept = matrix.indices(needed if budget is None or budget >= len(needed) else _budgeted(matrix, budget, keep))
    chosen = fastest(evidence, kept, evidence.when_choosing)
    best = fastest(evidence, matrix.kernels, evidence.when_choosing)
    held = held_out(evidence, noise, keep, incumbents=incumbents, tie=reduction.noise.tie)
    admissions = [admission(kernel, match, reduction) for kernel in evidence.kernels]
    names = [kernel.name for kernel in evidence.kernels]
    return ReductionResult(
        engine=evidence.engine,
        arch=evidence.arch,
        corpus=evidence.corpus,
        fingerprint=dict(evidence.fingerprint),
        rounds=evidence.rounds,
        needed=len(needed),
        budget=budget,
        kept=kept_reasons(evidence, matrix, keep, kept, chosen),
        dropped=drop_reasons(evidence, matrix, keep, admissions, kept),
        graphs=_verdicts(evidence, noise, matrix, kept, chosen, best),
        unserved=tuple(graph.name for g, graph in enumerate(evidence.graphs) if g not in best),
        uncovered=keep.uncovered,
        unjudged=tuple(sorted(names[k] for k in keep.unjudged)),
        scores=_scores(evidence, matrix, kept, chosen, best, held),
        frontier=frontier(evidence, matrix, len(needed)),
        rules=knob_rules(evidence, matrix, keep, kept, set(reduction.performance)),
    )


def _check(evidence: Evidence, reduction: Reduction, incumbents: Collection[str]) -> None:
    names = {kernel.name for kernel in evidence.kernels}
    unknown = sorted(set(incumbents) - names)
    if unknown:
        raise InputError(f'incumbent "{unknown[0]}" was not measured', cure="run `winnow pack` and `winnow sweep`")
    factor, ceiling = evidence.policy["prune_factor"], max(reduction.noise.ceiling, reduction.noise.floor)
    if factor <= 1 + ceiling:
        raise InputError(
            f"the sweep left out kernels slower than {factor:g}× the best, but noise.ceiling accepts {1 + ceiling:g}×",
            cure="raise sweep.prune_factor and sweep again, or lower reduction.noise.ceiling",
        )


def _budgeted(matrix: Matrix, budget: int, keep: MustKeep) -> tuple[int, ...]:
    try:
        return best_under(matrix.choice, budget)
    except Infeasible:
        least = smallest_size(matrix.choice)
        raise Refused(
            f"a budget of {amount(budget, 'kernels')} cannot serve every graph: it takes {least} "
            f"({len(keep.defaults)} defaults of cells, {len(keep.unjudged)} not judged here, "
            f"{len(keep.last_servers)} groups of last servers)",
            cure=f"raise reduction.budget.variants to {least} or more",
        ) from None


def _verdicts(
    evidence: Evidence,
    noise: tuple[GraphNoise, ...],
    matrix: Matrix,
    kept: Collection[int],
    chosen: Mapping[int, int],
    best: Mapping[int, int],
) -> tuple[GraphVerdict, ...]:
    outside = set(matrix.outside(kept))
    column = {kernel: i for i, kernel in enumerate(matrix.kernels)}
    verdicts = {}
    for row, g in enumerate(matrix.graphs):
        graph = evidence.graphs[g]
        verdicts[g] = GraphVerdict(
            graph=graph.name,
            id=graph.id,
            kernel=evidence.kernels[chosen[g]].name,
            best=evidence.kernels[best[g]].name,
            spread=noise[g].spread,
            epsilon=noise[g].epsilon,
            resolved=noise[g].resolved,
            slowdown=float(np.expm1(matrix.choice.costs[row, column[chosen[g]]])),
            within=g not in outside,
            retained=float(np.exp(median_of_known(retained(evidence, g, chosen[g], best[g])))),
        )
    return tuple(verdicts[g] for g in sorted(verdicts))


def _scores(
    evidence: Evidence,
    matrix: Matrix,
    kept: tuple[int, ...],
    chosen: Mapping[int, int],
    best: Mapping[int, int],
    held: HeldOut | None,
) -> Scores:
    ranked, all_ranked = first_ranked(evidence, kept), first_ranked(evidence, matrix.kernels)
    return Scores(
        chosen=score(evidence, chosen, best),
        hindsight=score(evidence, chosen, fastest(evidence, matrix.kernels, evidence.when_scoring)),
        ranked=score(evidence, ranked, all_ranked) if ranked.keys() & all_ranked.keys() else None,
        guessed=score(evidence, ranked, best) if ranked else None,
        held_out=held,
    )
