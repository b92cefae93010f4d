"""Resampling of rounds: the one bootstrap that every interval and noise figure uses.

`scipy.stats.bootstrap` draws for one sample of one statistic at a time; here all arms or graphs of a round are drawn
together, because a round's pace is common to them, and the draws are part of what a decision's bytes depend on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from winnow.identity import sha256_hex

RESAMPLES = 1000
CONFIDENCE = 0.95


def resampled(rounds: int, *, seed: str = "") -> NDArray[np.int64]:
    """Indices of rounds by (resample, place), drawn with replacement: the same ones for the same seed."""
    start = int(sha256_hex(seed)[:16], 16) if seed else 0
    drawn = np.random.Generator(np.random.PCG64(start)).integers(0, rounds, size=(RESAMPLES, rounds))
    return np.asarray(drawn, dtype=np.int64)


def percentile_interval(draws: NDArray[np.float64]) -> tuple[float, float]:
    """The central interval at `CONFIDENCE` of a statistic over its resamples."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(draws, (tail, 1 - tail))
    return float(low), float(high)
