"""The first pass of a sweep: every launch once, judged against the reference, before any of them is timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from winnow.devices.device import DeviceFault
from winnow.sweep.database import Database
from winnow.sweep.plan import Applicable, GraphPlan, Launch, Plan
from winnow.sweep.progress import Meter
from winnow.sweep.store import Judgement, judgements, record_judgement
from winnow.sweep.workbench import Workbench


def check_all(
    db: Database, session: int, plan: Plan, bench: Workbench, meter: Meter, proceed: Callable[[str], None]
) -> None:
    """Judge every launch that this session has not judged yet, and commit each verdict at once.

    A kernel that ran out of time on one graph is not tried on the others: it would cost the limit each time.
    `proceed` is called before each graph and may raise to stop there.
    """
    left = sum(len(graph.launches) for graph in plan.graphs)
    hung: dict[str, str] = {}
    for graph in plan.graphs:
        proceed("in the correctness pass")
        launches = graph.launches
        known = judgements(db, session, graph.id)
        hung |= {launch.sha256: graph.graph.name for launch, found in known.items() if found.fault == "timeout"}
        finished = sum(launch in known for launch in launches)
        meter.skip(finished)
        left -= finished
        for launch, applicable in launches.items():
            if launch in known:
                continue
            judgement = _judge(graph, applicable, bench, hung)
            record_judgement(db, session, graph.id, launch, judgement)
            if judgement.fault == "timeout":
                hung[launch.sha256] = graph.graph.name
            left -= 1
            meter.step(1, left, graph.graph.name)


def _judge(graph: GraphPlan, applicable: Applicable, bench: Workbench, hung: Mapping[str, str]) -> Judgement:
    if applicable.launch.sha256 in hung:
        where = hung[applicable.launch.sha256]
        return Judgement("failed", f"not tried: it ran out of time on {where}", "correctness")
    try:
        module = bench.module(applicable.kernel)
    except DeviceFault as fault:
        return Judgement("failed", str(fault), "load", fault.kind)
    try:
        found = bench.execution(graph).verify(module, applicable.grid)
    except DeviceFault as fault:
        bench.renew(graph)
        return Judgement("failed", str(fault), "correctness", fault.kind)
    if found.state == "failed":
        bench.renew(graph)
    stage: Literal["", "correctness"] = "correctness" if found.state == "failed" else ""
    return Judgement(found.state, found.detail, stage, None, found.max_abs, found.max_rel)


def passed(db: Database, session: int, graph: str) -> set[Launch]:
    """The graph's launches that may be timed."""
    judged = judgements(db, session, graph)
    return {launch for launch, judgement in judged.items() if judgement.state == "passed"}


def failed(db: Database, session: int, plan: Plan) -> frozenset[str]:
    """Objects that failed on any graph of the plan."""
    return frozenset(
        launch.sha256
        for graph in plan.graphs
        for launch, judgement in judgements(db, session, graph.id).items()
        if judgement.state == "failed"
    )
