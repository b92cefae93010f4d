"""Gate `budget`: no more kernels than the manifest allows, in all and in each cell; no other than were approved."""

from __future__ import annotations

from winnow.engine_dir import EngineDir
from winnow.errors import Place
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.graphs.model import graph_id
from winnow.graphs.reader import read_corpus
from winnow.selection.budget import meter_selection
from winnow.selection.expand import expand
from winnow.selection.kernel import Kernel
from winnow.selection.lock import changes, read_lock, work_of
from winnow.wording import amount


def check(engine: EngineDir, device: str | None) -> Verdict:
    """Count the selection's kernels by cell; what was allowed past the budget is said in the summary."""
    kernels = expand(engine.selection)
    meter = meter_selection(engine.manifest, kernels)
    refusal = meter.refusal()
    findings = [] if refusal is None else [Finding("budget", refusal.message, refusal.place)]
    findings += _unapproved(engine, kernels)
    allowed = "".join(f"; allowed past the budget: {one}" for one in meter.allowed())
    return judged("budget", f"{amount(len(kernels), 'kernels')}{allowed}", findings)


def _unapproved(engine: EngineDir, kernels: tuple[Kernel, ...]) -> list[Finding]:
    """What differs from the plan that a person approved, where there is one."""
    lock = read_lock(engine.lock_file)
    if lock is None:
        return []
    graphs = read_corpus(engine.corpus) if engine.corpus.is_dir() else ()
    work = work_of(kernels, {graph.name: graph_id(graph) for graph in graphs})
    place = Place(str(engine.lock_file))
    return [Finding("plan.lock", f"since its approval, {change}", place) for change in changes(lock, work)]
