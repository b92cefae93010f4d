"""Marginals of a diagram that is made of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from winnow.spaces.diagram.diagram import Diagram
from winnow.spaces.rules.batch import INT_LIMIT


def marginals_in_arrays(diagram: Diagram, sizes: Sequence[int]) -> list[list[int]]:
    """What `marginals` gives for a diagram that has points and is made of arrays.

    Sums below `INT_LIMIT` are kept in 64 bits, others in Python's own integers.
    """
    kind: Any = np.int64 if diagram.total < INT_LIMIT else object
    levels = diagram.levels
    around = [np.zeros(len(level.starts), dtype=kind) for level in levels]
    for root in diagram.roots:
        around[root][0] = diagram.total // levels[root].total(0)
    counts: list[list[int]] = [[0] * size for size in sizes]
    for which, level in enumerate(levels):
        starts, ends = np.asarray(level.starts), np.asarray(level.ends)
        if level.children:
            outside = np.repeat(around[which], ends - starts)
            weights = outside * np.diff(np.asarray(level.upto))
            for child, met in zip(level.children, level.below, strict=True):
                upto = np.asarray(levels[child].upto)
                totals = upto[np.asarray(levels[child].ends)] - upto[np.asarray(levels[child].starts)]
                np.add.at(around[child], met, weights // np.maximum(totals[met], 1))
        else:
            change = np.zeros(len(level.choices) + 1, dtype=kind)
            np.add.at(change, starts, around[which])
            np.subtract.at(change, ends, around[which])
            weights = np.cumsum(change, dtype=kind)[:-1]
        sums = np.zeros(sizes[level.axis], dtype=kind)
        np.add.at(sums, np.asarray(level.choices), weights)
        counts[level.axis] = [int(count) for count in sums]
    return counts
