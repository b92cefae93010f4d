"""How far a sweep is, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["correctness", "timing"]


@dataclass(frozen=True)
class Progress:
    """`done` of `total` units of a stage, and an estimate of the seconds that the rest of it takes."""

    stage: Stage
    done: int
    total: int
    seconds_left: float
    note: str


Report = Callable[[Progress], None]
Clock = Callable[[], float]


def silent(progress: Progress) -> None:
    """Reports nothing."""


class Meter:
    """Counts one stage's units. Units that an earlier run finished say nothing about how long the rest takes."""

    def __init__(self, stage: Stage, clock: Clock, report: Report) -> None:
        self._stage = stage
        self._clock = clock
        self._report = report
        self._started = clock()
        self._fresh = 0
        self.done = 0

    def skip(self, units: int) -> None:
        """Units that were finished before this run."""
        self.done += units

    def step(self, units: int, left: int, note: str) -> None:
        """Units that were finished just now, and how many there are still to do."""
        self.done += units
        self._fresh += units
        rest = (self._clock() - self._started) / self._fresh * left
        self._report(Progress(self._stage, self.done, self.done + left, rest, note))
