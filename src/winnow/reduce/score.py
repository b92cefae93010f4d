"""How much performance a set of kernels keeps, read off rounds that had no part in choosing it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from winnow.evidence.evidence import Evidence
from winnow.evidence.rounds import Times, median_of_known, scoring
from winnow.reduce.resampling import percentile_interval, resampled


@dataclass(frozen=True)
class Score:
    """Retained performance over the graphs of one corpus: 1 is as fast, 0.5 takes twice as long.

    `geomean` is the geometric mean over graphs, with an interval from resampling the rounds; `time_weighted` is the
    ratio of the summed times; `worst` is the graph that loses most.
    """

    graphs: int
    geomean: float
    low: float
    high: float
    time_weighted: float
    worst: float
    worst_graph: str


def fastest(evidence: Evidence, kernels: Sequence[int], times: Times) -> dict[int, int]:
    """Of these kernels the fastest for each graph by these times; graphs that none serves are left out.

    `times` are the evidence's `when_choosing` or `when_scoring`. Equal times go to the kernel that the catalog has
    first.
    """
    columns = np.array(sorted(kernels, key=lambda k: evidence.kernels[k].position), dtype=int)
    found: dict[int, int] = {}
    for g, row in enumerate(times[:, columns]):
        if not np.isnan(row).all():
            found[g] = int(columns[np.nanargmin(row)])
    return found


def first_ranked(evidence: Evidence, kernels: Sequence[int]) -> dict[int, int]:
    """Of these kernels the one that the engine would guess for each graph, where it passed there."""
    found: dict[int, int] = {}
    for g in range(len(evidence.graphs)):
        serving = [k for k in kernels if evidence.ranks[g, k] >= 0]
        if serving:
            first = min(serving, key=lambda k: int(evidence.ranks[g, k]))
            if not np.isnan(evidence.times[g, first]).all():
                found[g] = first
    return found


def retained(evidence: Evidence, graph: int, kernel: int, reference: int) -> Times:
    """time of `reference` / time of `kernel` in each scoring round, as logarithms; NaN where one was left out."""
    rounds = scoring(evidence.rounds)
    return np.asarray(evidence.times[graph, reference, rounds] - evidence.times[graph, kernel, rounds])


def score(evidence: Evidence, kept: Mapping[int, int], reference: Mapping[int, int]) -> Score:
    """Compare two choices of a kernel for each graph, on the graphs that both serve; there must be one.

    Each round compares the two inside itself, so that a round's pace drops out; a graph's ratio is the median over
    the scoring rounds that measured both.
    """
    graphs = sorted(kept.keys() & reference.keys(), key=lambda g: evidence.graphs[g].id)
    by_round = np.array([retained(evidence, g, kept[g], reference[g]) for g in graphs])
    ratios = median_of_known(by_round)
    rounds = scoring(evidence.rounds)
    times = median_of_known(np.array([np.exp(evidence.times[g, reference[g], rounds]) for g in graphs]))
    low, high = _interval(by_round, ratios)
    at = int(np.argmin(ratios))
    return Score(
        graphs=len(graphs),
        geomean=math.exp(float(ratios.mean())),
        low=math.exp(low),
        high=math.exp(high),
        time_weighted=float(times.sum() / (times * np.exp(-ratios)).sum()),
        worst=math.exp(float(ratios[at])),
        worst_graph=evidence.graphs[graphs[at]].name,
    )


def _interval(by_round: Times, ratios: Times) -> tuple[float, float]:
    """Percentile interval of the mean over graphs of the median over rounds, with the rounds resampled."""
    drawn = median_of_known(by_round[:, resampled(by_round.shape[1])])
    drawn = np.where(np.isnan(drawn), ratios[:, None], drawn)
    return percentile_interval(drawn.mean(axis=0))
