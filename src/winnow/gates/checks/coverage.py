"""Gate `coverage`: whatever the registry serves of the engine's corpus, a selected kernel serves."""

from __future__ import annotations

from winnow.coverage.cover import counts, cover, vacuous
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Ask registry and selection about every graph of the corpus and every shapes file that the manifest names."""
    problems = inspection.asked
    if not problems:
        corpus = inspection.engine.corpus
        return incomplete("coverage", f"no graph at {corpus}, and coverage.shapes names no file")
    results = cover(inspection.walk, inspection.kernels, problems)
    findings = [
        Finding(result.shape, f"{result.reason} (arch {result.arch})", result.place)
        for result in results
        if result.outcome == "GAP"
    ]
    if vacuous(results):
        findings = [Finding(results[0].shape, f"nothing of the corpus is served: {results[0].reason}")]
    summary = ", ".join(f"{count} {outcome}" for outcome, count in counts(results).items() if count)
    return judged("coverage", f"{amount(len(problems), 'problems')}: {summary}", findings)


GATE = Gate("coverage", (), check, order=50)
