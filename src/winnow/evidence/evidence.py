"""What a finished sweep proved: one time a round of every pair that passed, and nothing about any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.evidence.ledger import Ledger
from winnow.evidence.rounds import Times, choosing, scoring, settled
from winnow.targets.tiers import Tier


@dataclass(frozen=True)
class MeasuredKernel:
    """A kernel of the catalog that was swept. `position` is its place in the catalog."""

    name: str
    sha256: str
    metadata: Mapping[str, Any]
    priority: int
    tier: Tier
    position: int


@dataclass(frozen=True)
class MeasuredGraph:
    """A graph of the corpus that was swept, and the fields that matchers compare."""

    id: str
    name: str
    fields: Mapping[str, Any]
    flops: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """One sweep of one corpus on one device.

    `times` has the natural logarithm of the time in nanoseconds by (graph, kernel, round), NaN where a pair did not
    pass or a round left it out. `controls` has the same by (graph, A/A arm, round): launches of one object under
    several names, the default's own among them. `ranks` is the engine's guess by (graph, kernel), 0 the best, -1
    where the kernel does not serve the graph.
    """

    engine: str
    arch: str
    corpus: str
    fingerprint: Mapping[str, str | int]
    policy: Mapping[str, Any]
    kernels: tuple[MeasuredKernel, ...]
    graphs: tuple[MeasuredGraph, ...]
    times: Times
    controls: Times
    ranks: NDArray[np.int64]
    ledger: Ledger

    @property
    def rounds(self) -> int:
        """Complete rounds."""
        return int(self.times.shape[2])

    @cached_property
    def when_choosing(self) -> Times:
        """One log time by (graph, kernel) out of the rounds that choose."""
        return self.settled_over(choosing(self.rounds))

    @cached_property
    def when_scoring(self) -> Times:
        """One log time by (graph, kernel) out of the rounds that score."""
        return self.settled_over(scoring(self.rounds))

    def settled_over(self, rounds: Sequence[int]) -> Times:
        """One log time by (graph, kernel) out of some rounds, each at the pace of the others."""
        return np.stack([settled(graph[:, rounds]) for graph in self.times])

    @property
    def failures(self) -> dict[int, str]:
        """The first failure of each kernel that failed on any graph, by the kernel's position here."""
        index = {kernel.name: i for i, kernel in enumerate(self.kernels)}
        found: dict[int, str] = {}
        for outcome in self.ledger.by_state("failed"):
            found.setdefault(index[outcome.kernel], f"{outcome.stage} on {outcome.graph}: {outcome.reason}")
        return found
