"""How much two measurements of one object differ on each graph: what is closer to the best than that is equal to it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from winnow.evidence.evidence import Evidence
from winnow.evidence.rounds import Times, choosing, paced
from winnow.reduce.resampling import resampled
from winnow.settings.reduction import Noise


@dataclass(frozen=True)
class GraphNoise:
    """One graph's noise. `spread` is what its A/A arms show; a kernel within (1 + `epsilon`) of the best is equal.

    Both are fractions of a time. A graph whose spread is above the ceiling is not resolved: its measurements are too
    unsteady to tell its kernels apart even where they differ.
    """

    graph: str
    spread: float
    epsilon: float
    resolved: bool


def graph_noise(evidence: Evidence, noise: Noise) -> tuple[GraphNoise, ...]:
    """The noise of every graph, from the A/A arms in the rounds that choose.

    A few rounds can agree by accident, so no graph is taken for steadier than the typical graph of the sweep: a
    graph's spread is at least the median over all graphs.
    """
    rounds = choosing(evidence.rounds)
    own = [
        aa_spread(evidence.controls[g][:, rounds], noise.quantile, seed=graph.id)
        for g, graph in enumerate(evidence.graphs)
    ]
    known = [spread for spread in own if not math.isnan(spread)]
    typical = float(np.median(known)) if known else 0.0
    return tuple(
        _judged(graph.id, typical if math.isnan(spread) else max(spread, typical), noise)
        for graph, spread in zip(evidence.graphs, own, strict=True)
    )


def _judged(graph: str, spread: float, noise: Noise) -> GraphNoise:
    epsilon = min(max(noise.floor, spread), max(noise.floor, noise.ceiling))
    return GraphNoise(graph, spread, epsilon, spread <= max(noise.floor, noise.ceiling))


def aa_spread(controls: Times, quantile: float, *, seed: str) -> float:
    """Quantile of the relative difference between arms that are the same, as the median over rounds shows it.

    `controls` are log times by (arm, round). The rounds are resampled (all arms together, because a round's pace is
    common to them), and each resample compares every pair of arms. NaN where there are not two arms with times.
    """
    level = paced(controls[~np.isnan(controls).any(axis=1)])
    arms, rounds = level.shape
    if arms < 2 or rounds == 0:
        return math.nan
    medians = np.median(level[:, resampled(rounds, seed=seed)], axis=2)
    first, second = np.triu_indices(arms, 1)
    differences = np.abs(medians[first] - medians[second])
    return math.expm1(float(np.quantile(differences, quantile)))
