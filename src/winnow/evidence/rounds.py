"""Which rounds choose and which score, and one time for each arm out of several rounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]


def choosing(rounds: int) -> list[int]:
    """Rounds that kernels are chosen by: the even ones."""
    return list(range(0, rounds, 2))


def scoring(rounds: int) -> list[int]:
    """Rounds that the choice is scored on: the odd ones."""
    return list(range(1, rounds, 2))


def paced(times: Times) -> Times:
    """Log times by (arm, round) without what made a whole round slower or faster than the others.

    A round's pace is the median, over the arms that every round measured, of how far each is from its own median. It
    is what lets an arm that only the first round measured be compared with one that all rounds measured.
    """
    complete = times[~np.isnan(times).any(axis=1)]
    if not len(complete):
        return times
    pace = np.median(complete - np.median(complete, axis=1, keepdims=True), axis=0)
    return np.asarray(times - pace, dtype=np.float64)


def settled(times: Times) -> Times:
    """One log time for each arm: the median over its rounds, each at the same pace. NaN where none measured it."""
    return median_of_known(paced(times))


def median_of_known(values: Times) -> Times:
    """The median along the last axis over the values that are not NaN; NaN where there are none."""
    ordered = np.sort(values, axis=-1)
    known = np.sum(~np.isnan(values), axis=-1, keepdims=True)
    low = np.take_along_axis(ordered, np.maximum(known - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ordered, np.minimum(known // 2, values.shape[-1] - 1), axis=-1)
    return np.asarray((low + high)[..., 0] / 2, dtype=np.float64)
