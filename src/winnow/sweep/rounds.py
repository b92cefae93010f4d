"""The timing of a sweep: in each round a graph's arms run side by side, in an order that every round shuffles anew."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from winnow.devices.device import DeviceFault
from winnow.runtime.execution import Execution
from winnow.sweep.database import Database
from winnow.sweep.plan import Applicable, Arm, GraphPlan, Launch, shuffled
from winnow.sweep.policy import FULL_ROUNDS, Policy
from winnow.sweep.store import (
    Batch,
    faults,
    invalid_samples,
    measurements,
    pruned,
    record_fault,
    record_pruned,
    record_samples,
)
from winnow.sweep.workbench import Workbench


@dataclass(frozen=True)
class Track:
    """One graph with its batch, and the positions of those arms that this sweep measures."""

    plan: GraphPlan
    batch: Batch
    arms: tuple[int, ...]


@dataclass(frozen=True)
class Standing:
    """What the database holds of a track: times in nanoseconds by (arm, round), and the arms that are out.

    `unfit` are objects that failed on some graph of the sweep: they are timed where they passed, but nothing is slow
    in comparison with them.
    """

    track: Track
    times: Mapping[tuple[int, int], float]
    out: frozenset[int]
    unfit: frozenset[str]

    @property
    def running(self) -> list[int]:
        """Arms that neither failed nor were pruned."""
        return [arm for arm in self.track.arms if arm not in self.out]

    def left(self, round_: int) -> list[int]:
        """Arms that this round has still to measure."""
        return [arm for arm in self.running if (arm, round_) not in self.times]

    def best(self, round_: int) -> float | None:
        """The fastest fit arm's time in one round."""
        arms = self.track.batch.arms
        times = [t for (arm, at), t in self.times.items() if at == round_ and arms[arm].launch.sha256 not in self.unfit]
        return min(times, default=None)


def standing(db: Database, track: Track, unfit: frozenset[str], policy: Policy) -> Standing:
    """A track as far as it has come."""
    times = {key: policy.time_of(samples) for key, samples in measurements(db, track.batch.id).items()}
    return Standing(track, times, frozenset({*faults(db, track.batch.id), *pruned(db, track.batch.id)}), unfit)


def failed_while_timed(db: Database, tracks: Sequence[Track]) -> frozenset[str]:
    """Objects of which some arm failed while it was timed."""
    return frozenset(track.batch.arms[arm].launch.sha256 for track in tracks for arm in faults(db, track.batch.id))


def prune(db: Database, track: Track, unfit: frozenset[str], round_: int, policy: Policy) -> None:
    """Before `round_`: leave out every variant that was slower than the policy's factor in each round so far.

    In each, because one interruption in one round must not cost a good variant. The default stays, because the
    noise is read off it and its controls.
    """
    if round_ < FULL_ROUNDS:
        return
    now = standing(db, track, unfit, policy)
    best = [now.best(at) for at in range(round_)]
    for arm in now.running:
        if arm == 0 or track.batch.arms[arm].role == "control":
            continue
        times = [now.times.get((arm, at)) for at in range(round_)]
        ratios = [t / b for t, b in zip(times, best, strict=True) if t is not None and b is not None]
        if ratios and min(ratios) > policy.prune_factor:
            record_pruned(db, track.batch, arm, round_ - 1, min(ratios))


def time_graph(db: Database, bench: Workbench, policy: Policy, track: Track, unfit: frozenset[str], round_: int) -> int:
    """Measure what one round has left to measure of one graph; each arm is committed when it is finished.

    Returns the number of arms that were measured or failed.
    """
    now = standing(db, track, unfit, policy)
    left = now.left(round_)
    if not left:
        return 0
    plan, arms = track.plan, track.batch.arms
    launches = plan.launches
    position = {arm: i for i, arm in enumerate(arms)}
    best = min((b for at in range(round_ + 1) if (b := now.best(at)) is not None), default=None)
    failed = False
    timer = _Timer(bench, bench.execution(plan), policy)
    # The default, as long as it works, goes first and its times are thrown away: it warms the caches and the
    # clock for the others.
    timer.discard(launches[arms[now.running[0]].launch])
    for arm in shuffled([arms[i] for i in left], policy.seed, plan.id, round_):
        try:
            samples = timer.measure(launches[arm.launch], best)
        except DeviceFault as fault:
            record_fault(db, track.batch, position[arm], round_, str(fault))
            failed = True
            continue
        problem = invalid_samples(samples)
        if problem is not None:
            record_fault(db, track.batch, position[arm], round_, f"invalid times: {problem}")
            continue
        record_samples(db, track.batch, position[arm], round_, samples)
        if arm.launch.sha256 not in unfit:
            best = min(policy.time_of(samples), math.inf if best is None else best)
    if failed:
        bench.renew(plan)
    return len(left)


class _Timer:
    """Times launches of one problem as the policy says."""

    def __init__(self, bench: Workbench, execution: Execution, policy: Policy) -> None:
        self._bench = bench
        self._execution = execution
        self._policy = policy

    def discard(self, applicable: Applicable) -> None:
        """Run a launch as if it were measured. Should it fail, its own turn will say so."""
        try:
            self.measure(applicable, None)
        except DeviceFault:
            return

    def measure(self, applicable: Applicable, best: float | None) -> Sequence[int]:
        """Samples after one launch that is not kept; a single one when that launch was much slower than `best`."""
        policy = self._policy
        warm_up = self._time(applicable, 0.0, 1)
        first = warm_up[0] if warm_up else 0
        if best is not None and first > policy.prune_factor * best:
            return self._time(applicable, 0.0, 1)
        seconds = max(policy.min_seconds, policy.min_launches * first / 1e9)
        return self._time(applicable, seconds, policy.max_launches)

    def _time(self, applicable: Applicable, seconds: float, launches: int) -> tuple[int, ...]:
        module = self._bench.module(applicable.kernel)
        return self._execution.time(module, applicable.grid, min_seconds=seconds, max_launches=launches)


def track_of(plan: GraphPlan, batch: Batch, wanted: set[Launch]) -> Track:
    """The arms of a batch that are variants wanted now, or controls."""

    def measured(arm: Arm) -> bool:
        return arm.role == "control" or arm.launch in wanted

    return Track(plan, batch, tuple(i for i, arm in enumerate(batch.arms) if measured(arm)))
