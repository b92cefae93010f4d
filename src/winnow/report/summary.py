"""What one run of the loop came to, as a value: the table that a person reads and the data that a machine does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from winnow.evidence.ledger import Ledger
from winnow.gates.verdict import Verdict
from winnow.reduce.result import ReductionResult


@dataclass(frozen=True)
class Summary:
    """Counts and figures of a run. Retained performance is out of sample: see `reduce.result.Scores`."""

    engine: str
    arch: str
    legal: int
    selected: int
    packed: int
    ledger: Ledger
    result: ReductionResult
    verdicts: tuple[Verdict, ...]

    @property
    def graphs_served(self) -> int:
        """Graphs that at least one kernel serves with a right result."""
        return len({outcome.graph for outcome in self.ledger.by_state("served")})

    def rows(self) -> list[tuple[str, str, str]]:
        """(what, figure, remark) for a table."""
        counts, scores = self.ledger.counts, self.result.scores.chosen
        tried = counts["served"] + counts["failed"] + counts["unchecked"]
        others = len(self.result.unjudged)
        generic = f"and {others} generic ones, which also serve other devices" if others else ""
        return [
            ("legal variants in the full space", f"{self.legal:,}", "exact"),
            ("variants selected", f"{self.selected:,}", "for every arch of the manifest"),
            ("variants packed", f"{self.packed:,}", f"for {self.arch}"),
            ("graphs served and passed", f"{self.graphs_served} of {self.ledger.graphs}", ""),
            (
                "kernel × graph results passed",
                f"{counts['served']:,} of {tried:,}",
                f"{counts['declined']:,} do not match",
            ),
            ("variants kept", f"{len(self.result.kept) - others:,} of {self.packed - others:,}", generic),
            (
                "retained performance, geomean",
                f"{scores.geomean:.4f}",
                f"95 % interval {scores.low:.4f} to {scores.high:.4f}",
            ),
            ("retained performance, time-weighted", f"{scores.time_weighted:.4f}", ""),
            ("retained performance, worst graph", f"{scores.worst:.4f}", scores.worst_graph),
            *self._guess(),
            *self._noise(),
        ]

    def _guess(self) -> list[tuple[str, str, str]]:
        guessed = self.result.scores.guessed
        return (
            []
            if guessed is None
            else [("as the engine itself ranks them", f"{guessed.geomean:.4f}", "unmeasured guess")]
        )

    def _noise(self) -> list[tuple[str, str, str]]:
        noisy = [graph.graph for graph in self.result.graphs if not graph.resolved]
        if not noisy:
            return []
        figure = f"{len(noisy)} of {len(self.result.graphs)}"
        return [
            ("graphs too noisy to resolve", figure, "A/A arms differ by more than the ceiling: sweep in a quieter hour")
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "engine": self.engine,
            "arch": self.arch,
            "legal_variants": self.legal,
            "selected": self.selected,
            "packed": self.packed,
            "graphs": self.ledger.graphs,
            "graphs_served": self.graphs_served,
            "ledger": dict(self.ledger.counts),
            "reduction": self.result.as_dict(),
            "gates": [verdict.as_dict() for verdict in self.verdicts],
        }
