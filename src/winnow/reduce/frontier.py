"""What each size of the kept set buys: the curve that a budget is chosen on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from winnow.evidence.evidence import Evidence
from winnow.reduce.matrix import Matrix
from winnow.reduce.score import Score, fastest, score
from winnow.reduce.solve import best_of_sizes, fewest, smallest_size

POINTS = 32


@dataclass(frozen=True)
class FrontierPoint:
    """The best set of at most `size` kernels. `outside` graphs are beyond their epsilon; the score is out of sample."""

    size: int
    kernels: tuple[str, ...]
    outside: int
    score: Score


def frontier(evidence: Evidence, matrix: Matrix, needed: int) -> tuple[FrontierPoint, ...]:
    """One point a size, from the smallest set that serves every graph to one that is best on each.

    Where that makes more than `POINTS` sizes, they are spread evenly; the first, the last and `needed` are there.

    Raises:
        Infeasible: not even all kernels serve every graph and keep what must be kept.
    """
    reference = fastest(evidence, matrix.kernels, evidence.when_choosing)
    faultless = replace(matrix.choice, limits=np.zeros_like(matrix.choice.limits))
    sizes = _spread(smallest_size(matrix.choice), len(fewest(faultless)), needed)
    points: list[FrontierPoint] = []
    for size, columns in zip(sizes, best_of_sizes(matrix.choice, sizes), strict=True):
        kernels = matrix.indices(columns)
        scored = score(evidence, fastest(evidence, kernels, evidence.when_choosing), reference)
        names = tuple(sorted(evidence.kernels[k].name for k in kernels))
        points.append(FrontierPoint(size, names, len(matrix.outside(kernels)), scored))
    return tuple(points)


def _spread(first: int, last: int, needed: int) -> list[int]:
    count = min(POINTS, last - first + 1)
    return sorted({*(round(size) for size in np.linspace(first, last, count)), needed})
