"""What an enumeration found: the variants that it selected, and a ledger of everything that was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from winnow.errors import Refused
from winnow.selection.budget import Allowed
from winnow.settings.enumeration import BuilderRef

Outcome = Literal["selected", "refused", "duplicate", "over budget"]
OUTCOMES: tuple[Outcome, ...] = ("selected", "refused", "duplicate", "over budget")


@dataclass(frozen=True)
class Variant:
    """One kernel that the registry offers: who builds it, for which cell, and its spec as plain data."""

    candidate: str
    algorithm: str
    arch: str
    priority: int
    builder: BuilderRef
    cell: Mapping[str, Any]
    spec: Mapping[str, Any]
    metadata: Mapping[str, Any]
    identity: str


@dataclass(frozen=True)
class LedgerEntry:
    """What became of one (cell, candidate, knob set), or of `points` of them that nobody asked about one by one."""

    arch: str
    candidate: str
    cell: Mapping[str, Any]
    knobs: Mapping[str, Any]
    outcome: Outcome
    reason: str
    points: int = 1


@dataclass(frozen=True)
class Enumeration:
    """The variants that were selected, in a stable order, and what became of everything that was asked.

    `over` is the budget's refusal, None where everything is within it; `allowed` are the exceptions that were needed.
    """

    variants: tuple[Variant, ...]
    ledger: tuple[LedgerEntry, ...]
    over: Refused | None = None
    allowed: tuple[Allowed, ...] = ()

    def counts(self) -> dict[str, int]:
        """Points of the ledger by outcome; the sum is everything that was asked."""
        counted: Counter[str] = Counter()
        for entry in self.ledger:
            counted[entry.outcome] += entry.points
        return {outcome: counted[outcome] for outcome in OUTCOMES}
