"""The summary of an engine, from the artefacts in its directory alone."""

from __future__ import annotations

from collections.abc import Sequence

from winnow.descriptors.tree import read_catalog
from winnow.engine_dir import EngineDir
from winnow.gates.verdict import Verdict
from winnow.reduce.result import reduce_evidence
from winnow.report.summary import Summary
from winnow.selection.expand import expand
from winnow.selection.plan import plan_space
from winnow.sweep.evidence import load_evidence


def gather(engine: EngineDir, verdicts: Sequence[Verdict]) -> Summary:
    """What an engine's directory holds, decided anew by the manifest's reduction.

    Raises:
        Incomplete: no sweep of this catalog has finished.
    """
    manifest = engine.manifest.manifest
    evidence = load_evidence(engine.database, engine=manifest.engine.name, catalog=read_catalog(engine.catalog))
    return Summary(
        engine=manifest.slug,
        arch=evidence.arch,
        legal=plan_space(engine.manifest).total,
        selected=len(expand(engine.selection)),
        packed=len(evidence.kernels),
        ledger=evidence.ledger,
        result=reduce_evidence(evidence, manifest.reduction, manifest.match),
        verdicts=tuple(verdicts),
    )
