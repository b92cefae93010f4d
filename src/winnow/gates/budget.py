"""Gate `budget`: the selection holds no more kernels than the manifest allows, in all and in each cell."""

from __future__ import annotations

from winnow.catalog.budget import meter_selection
from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.expand import expand
from winnow.gates.verdict import Finding, Verdict, judged


def check(engine: EngineDir, device: str) -> Verdict:
    """Count the selection's kernels by cell; what was allowed past the budget is said in the summary."""
    kernels = expand(engine.selection)
    meter = meter_selection(engine.manifest, kernels)
    refusal = meter.refusal()
    findings = [] if refusal is None else [Finding("budget", refusal.message, refusal.place)]
    allowed = "".join(f"; allowed past the budget: {one}" for one in meter.allowed())
    return judged("budget", f"{len(kernels)} kernels{allowed}", findings)
