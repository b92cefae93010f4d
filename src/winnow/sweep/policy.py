"""How a sweep measures, as one value with an identity: timings under two policies are never compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from winnow.catalog.manifest import Sweep

SCHEME = 1
"""Raise it whenever the order, the warm-up or the sampling rule changes."""

FULL_ROUNDS = 2
"""Rounds that measure every pair, so that each has evidence to be chosen by and other evidence to be scored by."""


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
    scheme: int = SCHEME

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
    )
