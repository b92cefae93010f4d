"""What a finished sweep proved: one time a round of every pair that passed, and nothing about any other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.catalog.tree import Catalog
from winnow.errors import Incomplete, InputError, Place
from winnow.reduce.rounds import Times, choosing, scoring, settled
from winnow.sweep.database import Database, reading
from winnow.sweep.ledger import Ledger, read_ledger
from winnow.sweep.policy import FULL_ROUNDS, STATISTICS
from winnow.sweep.store import measurements, read_batch
from winnow.targets.tiers import Tier, admits_target


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


def load_evidence(path: Path, *, engine: str | None = None, catalog: Catalog | None = None) -> Evidence:
    """The evidence of the sweep that ran last, from its database alone.

    `engine` names the one that is meant where the database holds several. With `catalog`, the evidence must be about
    its kernels and no others.

    Raises:
        Incomplete: there was no sweep, it did not run to its end, or it was of another catalog.
        InputError: the database cannot be read.
    """
    with reading(path) as db:
        evidence = _read(db, path, engine)
    if catalog is not None:
        _check_catalog(evidence, catalog, path)
    return evidence


def _read(db: Database, path: Path, engine: str | None) -> Evidence:
    plans = db.rows(
        "SELECT plan.id, plan.rounds, plan.ended, plan.corpus, session.engine, session.arch, session.fingerprint,"
        " session.policy FROM plan JOIN session ON session.id = plan.session"
        " WHERE ? IS NULL OR session.engine = ? ORDER BY plan.last_used DESC LIMIT 1",
        (engine, engine),
    )
    if not plans:
        of = "" if engine is None else f" of {engine}"
        raise Incomplete(f"no measurements{of}", place=Place(str(path)), cure="run `winnow sweep` first")
    plan, rounds, ended, corpus, engine_name, arch, fingerprint, policy = plans[0]
    ledger = read_ledger(db, plan)
    if ended is None or rounds < FULL_ROUNDS or not ledger.adds_up:
        raise Incomplete(
            f'the sweep of corpus "{corpus}" did not run to its end: {rounds} rounds are complete, '
            f"{ledger.counts['missing']} of {ledger.graphs * ledger.kernels} pairs are missing",
            place=Place(str(path)),
            cure="run `winnow sweep` again: it goes on where it stopped",
        )
    kernels = tuple(
        MeasuredKernel(name, sha256, json.loads(metadata), priority, Tier(tier), position)
        for position, name, sha256, metadata, priority, tier in db.rows(
            "SELECT position, name, sha256, metadata, priority, tier FROM kernel WHERE plan = ? ORDER BY position",
            (plan,),
        )
    )
    if len({kernel.name for kernel in kernels}) != len(kernels):
        raise InputError("two kernels of this sweep have one name", place=Place(str(path)))
    rows = db.rows(
        "SELECT position, id, name, fields, flops, batch FROM graph WHERE plan = ? ORDER BY position", (plan,)
    )
    graphs = tuple(MeasuredGraph(id_, name, json.loads(fields), flops) for _, id_, name, fields, flops, _ in rows)
    times = np.full((len(graphs), len(kernels), rounds), np.nan)
    controls = np.full((len(graphs), 1 + json.loads(policy)["controls"], rounds), np.nan)
    ranks = np.full((len(graphs), len(kernels)), -1, np.int64)
    served = {(outcome.graph, outcome.kernel) for outcome in ledger.by_state("served")}
    for g, (position, _, name, _, _, batch) in enumerate(rows):
        pairs = db.rows(
            "SELECT kernel, rank, entry FROM pair WHERE plan = ? AND graph = ? AND rank IS NOT NULL", (plan, position)
        )
        for k, rank, _ in pairs:
            ranks[g, k] = rank
        if batch is None:
            continue
        by_arm = _arm_times(db, batch, rounds, json.loads(policy)["statistic"])
        arms = read_batch(db, batch, graphs[g].id).arms
        place = {(arm.launch.sha256, arm.launch.entry): i for i, arm in enumerate(arms) if arm.role == "variant"}
        for k, _, entry in pairs:
            if (name, kernels[k].name) in served:
                times[g, k] = by_arm[place[kernels[k].sha256, entry]]
        alike = [0, *(i for i, arm in enumerate(arms) if arm.role == "control")]
        controls[g] = by_arm[alike]
    return Evidence(
        engine=engine_name,
        arch=arch,
        corpus=corpus,
        fingerprint=json.loads(fingerprint),
        policy=json.loads(policy),
        kernels=kernels,
        graphs=graphs,
        times=times,
        controls=controls,
        ranks=ranks,
        ledger=ledger,
    )


def _arm_times(db: Database, batch: int, rounds: int, statistic: str) -> Times:
    """Logarithms of times by (arm, round); rounds that are not complete for the whole sweep are left out."""
    ((arms,),) = db.rows("SELECT COUNT(*) FROM arm WHERE batch = ?", (batch,))
    settle = STATISTICS[statistic]
    found = np.full((arms, rounds), np.nan)
    for (arm, round_), samples in measurements(db, batch).items():
        if round_ < rounds:
            found[arm, round_] = np.log(settle(samples))
    return found


def _check_catalog(evidence: Evidence, catalog: Catalog, path: Path) -> None:
    admitted = {
        kernel.name: catalog.completed_metadata(kernel)
        for kdp, kernel in catalog.kernels()
        if admits_target(kdp.arch_of(kernel), evidence.arch)
    }
    measured = {kernel.name: dict(kernel.metadata) for kernel in evidence.kernels}
    differing = sorted(name for name in admitted.keys() | measured.keys() if admitted.get(name) != measured.get(name))
    if differing:
        shown = ", ".join(differing[:3]) + (f" and {len(differing) - 3} more" if len(differing) > 3 else "")
        raise Incomplete(
            f"the last sweep was of another catalog: {len(differing)} kernels differ ({shown})",
            place=Place(str(path)),
            cure="run `winnow pack` and `winnow sweep`",
        )
