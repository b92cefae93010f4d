"""Gate `budget`: no more kernels than the manifest allows, in all and in each cell; no other than were approved."""

from __future__ import annotations

from winnow.errors import Place
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.graphs.model import graph_id
from winnow.selection.budget import meter_selection
from winnow.selection.kernel import Kernel
from winnow.selection.lock import changes, work_of
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Count the selection's kernels by cell; what was allowed past the budget is said in the summary."""
    kernels = inspection.kernels
    meter = meter_selection(inspection.walk, kernels)
    refusal = meter.refusal()
    findings = [] if refusal is None else [Finding("budget", refusal.message, refusal.place)]
    findings += _unapproved(inspection, kernels)
    allowed = "".join(f"; allowed past the budget: {one}" for one in meter.allowed())
    return judged("budget", f"{amount(len(kernels), 'kernels')}{allowed}", findings)


def _unapproved(inspection: Inspection, kernels: tuple[Kernel, ...]) -> list[Finding]:
    """What differs from the plan that a person approved, where there is one."""
    lock = inspection.lock
    if lock is None:
        return []
    work = work_of(kernels, {graph.name: graph_id(graph) for graph in inspection.graphs})
    place = Place(str(inspection.engine.lock_file))
    return [Finding("plan.lock", f"since its approval, {change}", place) for change in changes(lock, work)]


GATE = Gate("budget", (), check, order=30)
