"""What became of every pair of graph and kernel: exactly one outcome each, so that the sums always add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from winnow.evidence.ledger import Ledger, Outcome, State
from winnow.sweep.database import Database
from winnow.sweep.plan import Launch
from winnow.sweep.policy import FULL_ROUNDS
from winnow.sweep.store import Judgement, faults, judgements, pruned, read_batch


@dataclass(frozen=True)
class _Evidence:
    """What is known of one graph's launches."""

    judged: Mapping[Launch, Judgement]
    faults: Mapping[Launch, str]
    pruned: Mapping[Launch, tuple[int, float]]
    rounds: Mapping[Launch, int]


def read_ledger(db: Database, plan: int) -> Ledger:
    """The ledger of a plan as far as its sweep came."""
    ((session, rounds),) = db.rows("SELECT session, rounds FROM plan WHERE id = ?", (plan,))
    kernels = db.rows("SELECT name, sha256 FROM kernel WHERE plan = ? ORDER BY position", (plan,))
    outcomes: list[Outcome] = []
    graphs = db.rows("SELECT position, id, name, batch FROM graph WHERE plan = ? ORDER BY position", (plan,))
    for position, graph, name, batch in graphs:
        evidence = _evidence(db, session, graph, batch)
        pairs = db.rows(
            "SELECT kernel, entry, refusal FROM pair WHERE plan = ? AND graph = ? ORDER BY kernel", (plan, position)
        )
        for kernel, entry, refusal in pairs:
            title, sha256 = kernels[kernel]
            if refusal is not None:
                outcomes.append(Outcome(name, title, "declined", "", refusal))
            else:
                state, stage, reason = _outcome(evidence, Launch(sha256, entry), rounds)
                outcomes.append(Outcome(name, title, state, stage, reason))
    return Ledger(tuple(outcomes), len(graphs), len(kernels))


def _evidence(db: Database, session: int, graph: str, batch: int | None) -> _Evidence:
    judged = judgements(db, session, graph)
    if batch is None:
        return _Evidence(judged, {}, {}, {})
    arms = read_batch(db, batch, graph).arms
    counted = dict(db.rows("SELECT arm, COUNT(*) FROM measurement WHERE batch = ? GROUP BY arm", (batch,)))
    return _Evidence(
        judged,
        {arms[i].launch: reason for i, reason in faults(db, batch).items()},
        {arms[i].launch: cut for i, cut in pruned(db, batch).items()},
        {arm.launch: counted.get(i, 0) for i, arm in enumerate(arms) if arm.role == "variant"},
    )


def _outcome(evidence: _Evidence, launch: Launch, rounds: int) -> tuple[State, str, str]:
    judgement = evidence.judged.get(launch)
    if judgement is None:
        return "missing", "", "not checked yet"
    if judgement.state == "failed":
        return "failed", judgement.stage, judgement.detail
    if judgement.state == "unchecked":
        return "unchecked", "", judgement.detail
    if launch in evidence.faults:
        return "failed", "timing", evidence.faults[launch]
    if launch in evidence.pruned:
        after, factor = evidence.pruned[launch]
        return "served", "", f"pruned after round {after + 1} at {factor:.1f}× the best"
    measured = evidence.rounds.get(launch, 0)
    if measured < max(rounds, FULL_ROUNDS):
        return "missing", "", f"timed in {measured} of {max(rounds, FULL_ROUNDS)} rounds"
    return "served", "", ""
