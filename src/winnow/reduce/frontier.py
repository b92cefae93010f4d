"""What each size of the kept set buys: the curve that a budget is chosen on."""

from __future__ import annotations

from dataclasses import dataclass

from winnow.reduce.evidence import Evidence
from winnow.reduce.matrix import Matrix
from winnow.reduce.rounds import choosing
from winnow.reduce.score import Score, fastest, score
from winnow.reduce.solve import SLACK, best_under, smallest_size


@dataclass(frozen=True)
class FrontierPoint:
    """The best set of at most `size` kernels. `outside` graphs are beyond their epsilon; the score is out of sample."""

    size: int
    kernels: tuple[str, ...]
    outside: int
    score: Score


def frontier(evidence: Evidence, matrix: Matrix) -> tuple[FrontierPoint, ...]:
    """One point a size, from the smallest set that serves every graph to one that is best on each.

    Raises:
        Infeasible: not even all kernels serve every graph and keep what must be kept.
    """
    reference = fastest(evidence, matrix.kernels, choosing(evidence.rounds))
    points: list[FrontierPoint] = []
    for size in range(smallest_size(matrix.choice), len(matrix.kernels) + 1):
        columns = best_under(matrix.choice, size, preferred=False)
        kernels = matrix.indices(columns)
        scored = score(evidence, fastest(evidence, kernels, choosing(evidence.rounds)), reference)
        if scored is not None:
            names = tuple(sorted(evidence.kernels[k].name for k in kernels))
            points.append(FrontierPoint(size, names, len(matrix.outside(kernels)), scored))
        if matrix.choice.total(columns) <= SLACK:
            break
    return tuple(points)
