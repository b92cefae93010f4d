"""What a gate says: one type for all of them, and the exit code that a set of verdicts comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from winnow.errors import Place

State = Literal["passed", "refused", "incomplete", "unusable"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class Finding:
    """One reason why a gate did not pass. `subject` is the kernel, graph or file that it is about."""

    subject: str
    message: str
    place: Place | None = None


@dataclass(frozen=True)
class Verdict:
    """A gate's answer. One that could not run has not passed: `incomplete` where evidence is missing, `unusable` where
    an artefact, or code that the gate calls, cannot be used."""

    gate: str
    state: State
    summary: str
    findings: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def passed(gate: str, summary: str) -> Verdict:
    """The gate ran over everything it should and found nothing."""
    return Verdict(gate, "passed", summary)


def judged(gate: str, summary: str, findings: Iterable[Finding]) -> Verdict:
    """Refused with the findings if there are any, passed if there are none."""
    found = tuple(findings)
    return Verdict(gate, "refused" if found else "passed", summary, found)


def incomplete(gate: str, reason: str) -> Verdict:
    """The gate could not run; `reason` says what is missing and how to get it."""
    return Verdict(gate, "incomplete", reason)


def unusable(gate: str, reason: str) -> Verdict:
    """The gate could not run because something that it reads or calls cannot be used; `reason` says what and where."""
    return Verdict(gate, "unusable", reason)


def one_line(error: Exception) -> str:
    """What a person is told of an error, with its cure, as a verdict's summary has it."""
    return str(error).replace("\n  cure: ", "; cure: ").replace("\n", ";")


_CODES: tuple[tuple[State, int], ...] = (("refused", 1), ("unusable", 2), ("incomplete", 3))
"""The first state that some verdict has decides."""


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """1 if any gate refused, else 2 if any met something unusable, else 3 if any was incomplete, else 0."""
    states = {verdict.state for verdict in verdicts}
    return next((code for state, code in _CODES if state in states), 0)
