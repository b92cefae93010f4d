"""What became of every pair of graph and kernel: exactly one outcome each, so that the sums always add up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

State = Literal["served", "declined", "failed", "unchecked", "missing"]


STATES: tuple[State, ...] = ("served", "declined", "failed", "unchecked", "missing")


@dataclass(frozen=True)
class Outcome:
    """One pair's outcome. `missing` means that the sweep never got there: it is neither a decline nor a pass.

    `stage` is where a failed pair failed (load, correctness or timing); `reason` says why, or what a served pair's
    timings are short of.
    """

    graph: str
    kernel: str
    state: State
    stage: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Ledger:
    """Every outcome, graph by graph in the corpus's order, kernels in the catalog's order."""

    outcomes: tuple[Outcome, ...]
    graphs: int
    kernels: int

    @property
    def counts(self) -> dict[State, int]:
        """Pairs by state; every state is there."""
        found = Counter(outcome.state for outcome in self.outcomes)
        return {state: found[state] for state in STATES}

    @property
    def adds_up(self) -> bool:
        """Declared pairs equal the sum of outcomes, and none is missing."""
        return sum(self.counts.values()) == self.graphs * self.kernels and self.counts["missing"] == 0

    def by_state(self, state: State) -> tuple[Outcome, ...]:
        """The outcomes of one state."""
        return tuple(outcome for outcome in self.outcomes if outcome.state == state)
