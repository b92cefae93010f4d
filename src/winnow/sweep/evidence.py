"""What a finished sweep proved: one time a round of every pair that passed, and nothing about any other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from winnow.descriptors.tree import Catalog
from winnow.errors import Incomplete, InputError, Place
from winnow.evidence.evidence import Evidence, MeasuredGraph, MeasuredKernel
from winnow.evidence.rounds import Times
from winnow.importers.importer import Importer
from winnow.sweep.database import Database, reading
from winnow.sweep.ledger import read_ledger
from winnow.sweep.policy import FULL_ROUNDS, STATISTICS
from winnow.sweep.store import measurements, read_batch
from winnow.targets.tiers import Tier, admits_target
from winnow.wording import amount


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
        check_catalog(evidence, catalog, path)
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
            cure="run `winnow sweep` again: it resumes where it stopped",
        )
    kernels = tuple(
        MeasuredKernel(name, sha256, json.loads(metadata), priority, Tier(tier), position)
        for position, name, sha256, metadata, priority, tier in db.rows(
            "SELECT position, name, sha256, metadata, priority, tier FROM kernel WHERE plan = ? ORDER BY position",
            (plan,),
        )
    )
    if len({kernel.name for kernel in kernels}) != len(kernels):
        raise InputError("two kernels of this sweep have the same name", place=Place(str(path)))
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


def check_catalog(evidence: Evidence, catalog: Catalog, path: Path) -> None:
    """Raises Incomplete where an evidence, which stands at `path`, is not about a catalog's kernels and no others."""
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
            f"evidence and catalog differ in {amount(len(differing), 'kernels')}: {shown}",
            place=Place(str(path)),
            cure="run `winnow pack` and `winnow sweep`",
        )


IMPORTER = Importer("sweep", "evidence", (".db",), load_evidence)
"""The database of a sweep."""
