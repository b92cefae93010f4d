"""How a sweep measures, as one value with an identity: timings under two policies are never compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from winnow.settings.sweep import Sweep

SCHEME = 1
"""Raise it whenever the order, the warm-up or the sampling rule changes."""

FULL_ROUNDS = 2
"""Rounds that measure every pair, so that each has evidence to be chosen by and other evidence to be scored by."""


STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {"median": median, "minimum": min}
"""One time in nanoseconds out of one round's launches. Where other work interrupts a kernel, which only ever adds
time, the minimum is the steadier one; where clocks and power swing both ways, the median is."""


@dataclass(frozen=True)
class Policy:
    """What the timings depend on. Times in seconds. How many rounds there are is not part of it."""

    min_seconds: float
    min_launches: int
    max_launches: int
    prune_factor: float
    controls: int
    timeout_seconds: float
    seed: int
    statistic: str
    scheme: int = SCHEME

    def time_of(self, samples: Sequence[float]) -> float:
        """The time in nanoseconds that stands for the launches of one round."""
        return STATISTICS[self.statistic](samples)

    def as_dict(self) -> dict[str, Any]:
        """Plain data: what the policy's identity is taken over."""
        return asdict(self)


def policy_of(sweep: Sweep) -> Policy:
    """The policy that a manifest's `sweep:` section states."""
    return Policy(
        min_seconds=sweep.min_seconds,
        min_launches=sweep.min_launches,
        max_launches=sweep.max_launches,
        prune_factor=sweep.prune_factor,
        controls=sweep.controls,
        timeout_seconds=sweep.timeout_seconds,
        seed=sweep.seed,
        statistic=sweep.statistic,
    )
