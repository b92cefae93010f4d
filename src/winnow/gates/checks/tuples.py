"""Gate `tuples`: no two kernels that compete on a device have equal metadata, for which loaders drop the engine."""

from __future__ import annotations

from winnow.descriptors.duplicates import competitors
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Compare the completed metadata of all kernels of each catalog, whatever pack they are in."""
    findings: list[Finding] = []
    compared = 0
    for _, catalog in inspection.catalogs:
        kernels = [
            (kernel.name, catalog.completed_metadata(kernel), kdp.arch_of(kernel)) for kdp, kernel in catalog.kernels()
        ]
        compared += len(kernels)
        findings += (
            Finding(again, f"has the metadata of {first} and competes with it on a device: a loader drops the engine")
            for first, again in competitors(kernels)
        )
    return judged("tuples", amount(compared, "kernels"), findings)


GATE = Gate("tuples", (), check, order=80)
