"""Which rounds choose and which score, and one time for each arm out of several rounds."""

from __future__ import annotations

import numpy as np

from winnow.reduce.evidence import Times


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
    found = np.full(len(times), np.nan)
    level = paced(times)
    measured = ~np.isnan(level).all(axis=1)
    found[measured] = np.nanmedian(level[measured], axis=1)
    return found
