"""What a sweep writes down and finds again: sessions, plans, batches, and each measurement as it is finished."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from winnow.devices.device import FaultKind
from winnow.graphs.model import document
from winnow.identity import canonical_json, sha256_hex
from winnow.sweep.database import Database
from winnow.sweep.plan import Arm, GraphPlan, Launch, Plan
from winnow.sweep.policy import Policy
from winnow.version import VERSION


@dataclass(frozen=True)
class Batch:
    """Arms that are measured side by side on one graph; an arm is known by its position, the default by 0."""

    id: int
    graph: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True)
class Judgement:
    """What a correctness check said. A failed one has a stage, and a fault where the device did not survive it."""

    state: Literal["passed", "failed", "unchecked"]
    detail: str
    stage: Literal["", "load", "correctness"] = ""
    fault: FaultKind | None = None
    max_abs: float | None = None
    max_rel: float | None = None


def session_identity(engine: str, arch: str, fingerprint: Mapping[str, str | int], policy: Policy) -> str:
    """Digest of everything that two timings must share to be compared, except the graph and the object."""
    return sha256_hex(canonical_json([engine, arch, dict(fingerprint), policy.as_dict()]))


def open_session(db: Database, plan: Plan, fingerprint: Mapping[str, str | int], policy: Policy) -> int:
    """The session of this engine, device state and policy; a new one if they never met before."""
    engine = plan.engine
    identity = session_identity(engine.name, engine.arch, fingerprint, policy)
    db.write(
        "INSERT OR IGNORE INTO session (identity, engine, arch, fingerprint, policy, created_by)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            identity,
            engine.name,
            engine.arch,
            canonical_json(dict(fingerprint)),
            canonical_json(policy.as_dict()),
            f"winnow {VERSION}",
        ),
    )
    ((session,),) = db.rows("SELECT id FROM session WHERE identity = ?", (identity,))
    return int(session)


def open_plan(db: Database, session: int, plan: Plan) -> int:
    """The record of this plan in a session: the one of an earlier run that asked for the same, or a new one."""
    with db.together():
        ((used,),) = db.rows("SELECT COALESCE(MAX(last_used), 0) + 1 FROM plan")
        known = db.rows("SELECT id FROM plan WHERE session = ? AND identity = ?", (session, plan.identity))
        if known:
            number = int(known[0][0])
            db.write("UPDATE plan SET last_used = ?, ended = NULL WHERE id = ?", (used, number))
            return number
        number = db.write(
            "INSERT INTO plan (session, identity, corpus, last_used) VALUES (?, ?, ?, ?)",
            (session, plan.identity, plan.corpus, used),
        )
        _write_plan(db, number, plan)
        return number


def _write_plan(db: Database, number: int, plan: Plan) -> None:
    db.write_many(
        "INSERT INTO kernel VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (number, i, k.name, k.id, k.sha256, k.symbol, json.dumps(dict(k.metadata)), k.priority, int(k.tier))
            for i, k in enumerate(plan.engine.kernels)
        ],
    )
    for at, graph in enumerate(plan.graphs):
        problem = graph.problem
        db.write(
            "INSERT INTO graph VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            (
                number,
                at,
                graph.id,
                graph.graph.name,
                canonical_json(document(graph.graph)),
                json.dumps({} if problem is None else dict(problem.fields)),
                0 if problem is None else problem.flops,
                None if problem is not None else graph.declined,
            ),
        )
        ranks = {applicable.kernel.id: (i, applicable.launch.entry) for i, applicable in enumerate(graph.ranked)}
        db.write_many(
            "INSERT INTO pair VALUES (?, ?, ?, ?, ?, ?)",
            [
                (number, at, i, *ranks[kernel.id], None)
                if kernel.id in ranks
                else (number, at, i, None, None, graph.refusals.get(kernel.id, graph.declined))
                for i, kernel in enumerate(plan.engine.kernels)
            ],
        )


def assign_batch(db: Database, session: int, plan: int, position: int, graph: GraphPlan, arms: Sequence[Arm]) -> Batch:
    """The batch that holds this plan's timings of one graph.

    A plan keeps the batch that it has. A new plan goes on with an earlier one that holds every launch that is wanted
    now, its default among them; one that lacks any cannot be taken, because times that were not taken side by side
    are not compared.
    """
    ((mine,),) = db.rows("SELECT batch FROM graph WHERE plan = ? AND position = ?", (plan, position))
    if mine is not None:
        return read_batch(db, mine, graph.id)
    with db.together():
        batch = _batch_with(db, session, graph.id, {arm.launch for arm in arms})
        if batch is None:
            number = db.write("INSERT INTO batch (session, graph) VALUES (?, ?)", (session, graph.id))
            db.write_many(
                "INSERT INTO arm VALUES (?, ?, ?, ?, ?, ?)",
                [(number, i, a.name, a.role, a.launch.sha256, a.launch.entry) for i, a in enumerate(arms)],
            )
            batch = Batch(number, graph.id, tuple(arms))
        db.write("UPDATE graph SET batch = ? WHERE plan = ? AND position = ?", (batch.id, plan, position))
    return batch


def _batch_with(db: Database, session: int, graph: str, wanted: set[Launch]) -> Batch | None:
    numbers = db.rows("SELECT id FROM batch WHERE session = ? AND graph = ? ORDER BY id DESC", (session, graph))
    for (number,) in numbers:
        batch = read_batch(db, number, graph)
        if wanted <= {arm.launch for arm in batch.arms} and batch.arms[0].launch in wanted:
            return batch
    return None


def read_batch(db: Database, number: int, graph: str) -> Batch:
    """A batch with its arms by position."""
    rows = db.rows("SELECT name, role, sha256, entry FROM arm WHERE batch = ? ORDER BY position", (number,))
    return Batch(number, graph, tuple(Arm(name, role, Launch(sha256, entry)) for name, role, sha256, entry in rows))


def record_judgement(db: Database, session: int, graph: str, launch: Launch, found: Judgement) -> None:
    """Keep the verdict on one launch."""
    db.write(
        "INSERT INTO correctness VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(session, graph, launch.sha256, launch.entry),
            *(found.state, found.stage, found.fault, found.detail, found.max_abs, found.max_rel),
        ),
    )


def judgements(db: Database, session: int, graph: str) -> dict[Launch, Judgement]:
    """Every verdict on a graph."""
    rows = db.rows(
        "SELECT sha256, entry, state, detail, stage, fault, max_abs, max_rel FROM correctness"
        " WHERE session = ? AND graph = ?",
        (session, graph),
    )
    return {Launch(sha256, entry): Judgement(*rest) for sha256, entry, *rest in rows}


def invalid_samples(samples: Sequence[Any]) -> str | None:
    """Why these are not times, or None when they are: zero is not the time of a very fast kernel."""
    if not samples:
        return "no samples"
    for i, sample in enumerate(samples):
        if isinstance(sample, bool) or not isinstance(sample, (int, float)):
            return f"sample {i} is {sample!r}, not a number of nanoseconds"
        if not math.isfinite(sample) or sample <= 0:
            return f"sample {i} is {sample} ns"
    return None


def record_samples(db: Database, batch: Batch, arm: int, round_: int, samples: Sequence[int]) -> None:
    """Keep one arm's raw samples of one round, in order.

    Raises:
        ValueError: they are not valid times; nothing is kept.
    """
    problem = invalid_samples(samples)
    if problem is not None:
        raise ValueError(problem)
    db.write(
        "INSERT INTO measurement VALUES (?, ?, ?, ?, ?)",
        (batch.id, arm, round_, json.dumps(list(samples)), time.time()),
    )


def measurements(db: Database, batch: int) -> dict[tuple[int, int], list[float]]:
    """Raw samples in nanoseconds by (arm's position, round)."""
    rows = db.rows("SELECT arm, round, samples FROM measurement WHERE batch = ? ORDER BY round, arm", (batch,))
    return {(arm, round_): json.loads(samples) for arm, round_, samples in rows}


def record_fault(db: Database, batch: Batch, arm: int, round_: int, reason: str) -> None:
    """Take an arm out of all later rounds because it failed while it was timed."""
    db.write("INSERT INTO fault VALUES (?, ?, ?, ?)", (batch.id, arm, round_, reason))


def faults(db: Database, batch: int) -> dict[int, str]:
    """Why arms failed while they were timed, by position."""
    return dict(db.rows("SELECT arm, reason FROM fault WHERE batch = ?", (batch,)))


def record_pruned(db: Database, batch: Batch, arm: int, after_round: int, factor: float) -> None:
    """Take an arm out of all later rounds because it is too slow to matter."""
    db.write("INSERT INTO pruned VALUES (?, ?, ?, ?)", (batch.id, arm, after_round, factor))


def pruned(db: Database, batch: int) -> dict[int, tuple[int, float]]:
    """(last round that measured it, times slower than the best) of each arm that is left out, by position."""
    rows = db.rows("SELECT arm, after_round, factor FROM pruned WHERE batch = ?", (batch,))
    return {arm: (after, factor) for arm, after, factor in rows}


def record_rounds(db: Database, plan: int, rounds: int) -> None:
    """This many rounds are complete for every graph, if not more were already."""
    db.write("UPDATE plan SET rounds = ? WHERE id = ? AND rounds < ?", (rounds, plan, rounds))


def complete_rounds(db: Database, plan: int) -> int:
    """How many rounds are complete for every graph."""
    ((rounds,),) = db.rows("SELECT rounds FROM plan WHERE id = ?", (plan,))
    return int(rounds)


def end_plan(db: Database, plan: int, why: str) -> None:
    """The sweep ran to its end."""
    db.write("UPDATE plan SET ended = ? WHERE id = ?", (why, plan))
