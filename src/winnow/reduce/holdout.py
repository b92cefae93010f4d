"""How well a set serves graphs that had no part in choosing it: folds of the corpus are left out in turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from winnow.evidence.evidence import Evidence
from winnow.reduce.matrix import matrix_of
from winnow.reduce.noise import GraphNoise
from winnow.reduce.policy import MustKeep
from winnow.reduce.score import Score, fastest, score
from winnow.reduce.solve import fewest

FOLDS = 8


@dataclass(frozen=True)
class HeldOut:
    """The score over all graphs, each served by the set that was chosen without it; and those left without a server."""

    folds: int
    score: Score | None
    unserved: tuple[str, ...]


def held_out(
    evidence: Evidence,
    noise: Sequence[GraphNoise],
    keep: MustKeep,
    *,
    incumbents: Collection[str] = (),
    tie: float = 0.0,
) -> HeldOut | None:
    """Choose without each fold of the graphs and score on that fold. None where there are fewer than two graphs.

    Which fold a graph is in depends on its identity alone, so that adding a graph moves few others.

    Raises:
        Infeasible: what must be kept cannot be.
    """
    everything = matrix_of(evidence, noise, keep)
    reference = fastest(evidence, everything.kernels, evidence.when_choosing)
    folds = min(FOLDS, len(everything.graphs))
    if folds < 2:
        return None
    served: dict[int, int] = {}
    for fold in range(folds):
        left_out = everything.graphs[fold::folds]
        matrix = matrix_of(evidence, noise, keep, incumbents=incumbents, tie=tie, without=left_out)
        best = fastest(evidence, matrix.indices(fewest(matrix.choice)), evidence.when_choosing)
        served |= {g: best[g] for g in left_out if g in best}
    unserved = tuple(evidence.graphs[g].name for g in everything.graphs if g not in served)
    return HeldOut(folds, score(evidence, served, reference) if served else None, unserved)
