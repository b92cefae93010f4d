"""The evidence as the solver sees it: costs by graph and kernel, in an order that no input order can change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from winnow.evidence.evidence import Evidence
from winnow.evidence.rounds import Times
from winnow.reduce.noise import GraphNoise
from winnow.reduce.policy import MustKeep, preference
from winnow.reduce.solve import Choice


@dataclass(frozen=True, eq=False)
class Matrix:
    """Rows are `graphs`, columns are `kernels` (both as indices of the evidence), most preferred kernel first."""

    graphs: tuple[int, ...]
    kernels: tuple[int, ...]
    choice: Choice

    def indices(self, columns: Collection[int]) -> tuple[int, ...]:
        """Kernels of the evidence that columns of the matrix stand for."""
        return tuple(sorted(self.kernels[column] for column in columns))

    def outside(self, kept: Collection[int]) -> list[int]:
        """Graphs that these kernels of the evidence do not serve within their limits."""
        columns = [column for column, kernel in enumerate(self.kernels) if kernel in set(kept)]
        best = self.choice.costs[:, columns].min(axis=1, initial=np.inf)
        return [g for g, cost, limit in zip(self.graphs, best, self.choice.limits, strict=True) if cost > limit]


def costs_of(evidence: Evidence, kernels: Sequence[int]) -> Times:
    """log(time / best time) by (graph, kernel) in the rounds that choose; infinite where a kernel did not pass."""
    costs = np.full((len(evidence.graphs), len(kernels)), np.inf)
    for g, times in enumerate(evidence.when_choosing[:, list(kernels)]):
        known = ~np.isnan(times)
        if known.any():
            costs[g, known] = times[known] - times[known].min()
    return costs


def matrix_of(
    evidence: Evidence,
    noise: Sequence[GraphNoise],
    keep: MustKeep,
    *,
    incumbents: Collection[str] = (),
    tie: float = 0.0,
    without: Collection[int] = (),
) -> Matrix:
    """What has to be chosen: every fit kernel, and every graph that one of them serves, except those in `without`."""
    kernels = sorted(
        (k for k in range(len(evidence.kernels)) if k not in keep.unfit),
        key=lambda k: (evidence.kernels[k].name not in incumbents, *preference(evidence.kernels[k])),
    )
    costs = costs_of(evidence, kernels)
    served = {g for g in range(len(costs)) if bool(np.isfinite(costs[g]).any())}
    graphs = sorted(
        (g for g in range(len(evidence.graphs)) if g in served and g not in without),
        key=lambda g: evidence.graphs[g].id,
    )
    column = {kernel: i for i, kernel in enumerate(kernels)}
    newcomers = [int(evidence.kernels[k].name not in incumbents) for k in kernels]
    choice = Choice(
        costs=costs[graphs],
        limits=np.log1p([noise[g].epsilon for g in graphs]),
        forced=frozenset(column[k] for k in keep.forced),
        groups=tuple(sorted((frozenset(column[k] for k in group.members) for group in keep.last_servers), key=sorted)),
        weights=(newcomers, range(len(kernels))) if incumbents else (range(len(kernels)),),
        tie=tie,
    )
    return Matrix(tuple(graphs), tuple(kernels), choice)
