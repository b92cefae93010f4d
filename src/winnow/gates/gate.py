"""What a gate is: a name, what it needs to look at, and a check over one inspection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Verdict

LAST = 1000
"""Where a gate stands that says nothing of its place."""


@dataclass(frozen=True)
class Gate:
    """One gate. Registered in the entry-point group `winnow.gates`, by itself or in an iterable.

    `needs` are names of `needs.NEEDS`: where one of them is not there, the gate is incomplete without being asked.
    `order` is its place in the flow; gates of one place go by their names. `check` gives the verdict; it may raise
    InputError (an artefact cannot be used), Refused (its first finding) or Incomplete.
    """

    name: str
    needs: tuple[str, ...]
    check: Callable[[Inspection], Verdict]
    order: int = LAST
