"""Gate `reduction`: the reduced catalog is part of the selection and keeps every graph within its epsilon."""

from __future__ import annotations

from collections.abc import Iterator

from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.expand import Kernel, expand
from winnow.catalog.generate import generate
from winnow.catalog.selection import load_selection
from winnow.catalog.tree import read_catalog
from winnow.errors import Incomplete
from winnow.gates.regeneration import differences
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.reduce.evidence import Evidence, load_evidence
from winnow.reduce.matrix import matrix_of
from winnow.reduce.noise import graph_noise
from winnow.reduce.policy import must_keep


def check(engine: EngineDir, device: str) -> Verdict:
    """Judge the reduced selection by the measurements, not by what the reducer said of it."""
    file = engine.reduced / "selection.yaml"
    if not file.is_file():
        return incomplete("reduction", f"no reduced selection at {file}: run `winnow reduce` first")
    manifest = engine.manifest.manifest
    try:
        evidence = load_evidence(engine.database, engine=manifest.engine.name, catalog=read_catalog(engine.catalog))
    except Incomplete as error:
        return incomplete("reduction", str(error))
    reduced = expand(load_selection(file))
    findings = [
        *_strangers(reduced, expand(engine.selection)),
        *differences(generate(manifest, reduced, engine.kept_ids).files(), engine.reduced / "catalog"),
        *_outside(engine, evidence, {kernel.name for kernel in reduced}),
    ]
    summary = f"{len(reduced)} kernels keep {len(evidence.graphs)} graphs within their epsilon"
    return judged("reduction", summary if not findings else f"{len(reduced)} kernels", findings)


def _strangers(reduced: tuple[Kernel, ...], selected: tuple[Kernel, ...]) -> Iterator[Finding]:
    known = {kernel.name: kernel for kernel in selected}
    for kernel in reduced:
        ours = known.get(kernel.name)
        if ours is None:
            yield Finding(kernel.name, "is in the reduced selection and not in the selection", kernel.place)
        elif (ours.kernel_source, ours.metadata, ours.arch) != (kernel.kernel_source, kernel.metadata, kernel.arch):
            yield Finding(kernel.name, "is another kernel in the reduced selection than in the selection", kernel.place)


def _outside(engine: EngineDir, evidence: Evidence, names: set[str]) -> Iterator[Finding]:
    manifest = engine.manifest.manifest
    noise = graph_noise(evidence, manifest.reduction.noise)
    keep = must_keep(evidence, manifest.match, manifest.reduction)
    matrix = matrix_of(evidence, noise, keep)
    kept = [k for k, kernel in enumerate(evidence.kernels) if kernel.name in names and k not in keep.unfit]
    for g in matrix.outside(kept):
        yield Finding(
            evidence.graphs[g].name,
            f"no kept kernel is within {noise[g].epsilon:.1%} of the best one that was measured",
        )
    for k in sorted(keep.unfit):
        if evidence.kernels[k].name in names:
            yield Finding(evidence.kernels[k].name, "is kept, but failed on a graph that it admits")
    for group in keep.last_servers:
        if not group.members & set(kept):
            one = evidence.kernels[min(group.members)].name
            yield Finding(one, f"it or one that admits the same has to stay: nothing else serves {group.text}")
    for k in sorted(keep.forced - set(kept)):
        yield Finding(evidence.kernels[k].name, "must be kept (a cell's default, or not judged on this device)")
