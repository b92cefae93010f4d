"""A sweep from its plan to its end: check every pair, time what passed in rounds, stop in good order, resume."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from winnow.devices.device import Device
from winnow.errors import Incomplete, InputError, Place
from winnow.evidence.ledger import Ledger
from winnow.graphs.model import Graph
from winnow.runtime.load import Engine
from winnow.settings.sweep import Sweep
from winnow.sweep.correctness import check_all, failed, passed
from winnow.sweep.database import Database, writing
from winnow.sweep.ledger import read_ledger
from winnow.sweep.plan import Plan, arms_of, make_plan
from winnow.sweep.policy import FULL_ROUNDS, Policy, policy_of
from winnow.sweep.progress import Clock, Meter, Report, silent
from winnow.sweep.rounds import Track, failed_while_timed, prune, standing, time_graph, track_of
from winnow.sweep.store import assign_batch, complete_rounds, end_plan, open_plan, open_session, record_rounds
from winnow.sweep.workbench import Workbench

Ended = Literal["rounds", "budget"]


@dataclass(frozen=True)
class SweepResult:
    """A sweep that ran to its end: complete rounds, why it stopped there, and what became of every pair."""

    session: int
    plan: int
    rounds: int
    ended: Ended
    ledger: Ledger
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "rounds": self.rounds,
            "ended": self.ended,
            "seconds": round(self.seconds, 3),
            "counts": dict(self.ledger.counts),
            "ledger": [vars(outcome) for outcome in self.ledger.outcomes],
        }


def run_sweep(
    engine: Engine,
    device: Device,
    graphs: Sequence[Graph],
    sweep: Sweep,
    path: Path,
    *,
    corpus: str = "corpus",
    rounds: int | None = None,
    budget: float | None = None,
    report: Report = silent,
    clock: Clock = time.monotonic,
) -> SweepResult:
    """Measure every kernel of `engine` on every graph, into the database at `path`.

    What the database holds already of the same device state, policy, graph and object is not measured again. Every
    verdict and every arm of a round is committed when it is finished, so that a run which is killed loses at most
    the one that it was at. `rounds` overrides the manifest's number. `budget` is the time in seconds after which no
    round is started, or None.

    Raises:
        InputError: no graphs, a device of another arch, a database that cannot be used.
        Refused: no kernel serves any graph.
        Incomplete: the budget ended before the two rounds that evidence needs.
    """
    wanted = sweep.rounds if rounds is None else rounds
    if wanted < FULL_ROUNDS:
        raise InputError(
            f"{wanted} rounds are too few", cure=f"ask for {FULL_ROUNDS} or more: one to choose, one to score"
        )
    if device.arch != engine.arch:
        raise InputError(
            f"the engine is packed for {engine.arch}, but the device is {device.arch}",
            cure=f"load the shard of {device.arch}",
        )
    plan = make_plan(engine, graphs, corpus)
    policy = policy_of(sweep)
    budgeted = _Budget(budget, clock, path)
    with writing(path) as db, Workbench(engine, device, policy.seed) as bench:
        session = open_session(db, plan, device.fingerprint(), policy)
        number = open_plan(db, session, plan)
        check_all(db, session, plan, bench, Meter("correctness", clock, report), budgeted.check)
        tracks = _tracks(db, session, number, plan, policy)
        timing = _Timing(db, number, bench, policy, tuple(tracks), failed(db, session, plan))
        ended = timing.run(wanted, budgeted, Meter("timing", clock, report))
        end_plan(db, number, ended)
        return SweepResult(session, number, complete_rounds(db, number), ended, read_ledger(db, number), budgeted.used)


def _tracks(db: Database, session: int, number: int, plan: Plan, policy: Policy) -> list[Track]:
    tracks = []
    for position, graph in enumerate(plan.graphs):
        good = passed(db, session, graph.id)
        launches = [applicable for launch, applicable in graph.launches.items() if launch in good]
        if launches:
            batch = assign_batch(db, session, number, position, graph, arms_of(launches, policy.controls))
            tracks.append(track_of(graph, batch, {applicable.launch for applicable in launches}))
    return tracks


@dataclass(frozen=True)
class _Timing:
    """What the rounds of one plan work on. `wrong` are objects that failed the correctness pass on some graph."""

    db: Database
    plan: int
    bench: Workbench
    policy: Policy
    tracks: tuple[Track, ...]
    wrong: frozenset[str]

    def run(self, rounds: int, budget: _Budget, meter: Meter) -> Ended:
        """Measure what is left of each round, in order."""
        last = 0.0
        for round_ in range(rounds):
            if round_ >= FULL_ROUNDS and not budget.allows(last):
                return "budget"
            started = budget.used
            self._round(round_, rounds, budget, meter)
            record_rounds(self.db, self.plan, round_ + 1)
            last = budget.used - started
        return "rounds"

    def _round(self, round_: int, rounds: int, budget: _Budget, meter: Meter) -> None:
        unfit = self.wrong | failed_while_timed(self.db, self.tracks)
        for track in self.tracks:
            prune(self.db, track, unfit, round_, self.policy)
        standings = [standing(self.db, track, unfit, self.policy) for track in self.tracks]
        running = sum(len(now.running) for now in standings)
        left = sum(len(now.left(round_)) for now in standings)
        later = running * (rounds - round_ - 1)
        meter.skip(running - left)
        for track in self.tracks:
            if round_ < FULL_ROUNDS:
                budget.check(f"in timing round {round_ + 1}")
            measured = time_graph(self.db, self.bench, self.policy, track, unfit, round_)
            left -= measured
            if measured:
                meter.step(measured, left + later, f"round {round_ + 1} of {rounds}, {track.plan.graph.name}")


class _Budget:
    """The time that a run may take, in seconds; None is without limit."""

    def __init__(self, seconds: float | None, clock: Clock, path: Path) -> None:
        self._seconds = seconds
        self._clock = clock
        self._started = clock()
        self._path = path

    @property
    def used(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._started

    def allows(self, seconds: float) -> bool:
        """Whether something that takes so long still fits."""
        return self._seconds is None or self.used + seconds <= self._seconds

    def check(self, where: str) -> None:
        """Raise Incomplete once the time is used up."""
        if not self.allows(0.0):
            raise Incomplete(
                f"the budget of {self._seconds:g} s ran out {where}; evidence needs {FULL_ROUNDS} rounds",
                place=Place(str(self._path)),
                cure="run the same command again: it resumes where this one stopped",
            )
