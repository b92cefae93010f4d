"""Gate `reduction`: the reduced catalog is part of the selection and keeps every graph within its epsilon."""

from __future__ import annotations

from collections.abc import Iterator

from winnow.descriptors.generate import generate
from winnow.engine_dir import EngineDir
from winnow.errors import Place
from winnow.evidence.evidence import Evidence
from winnow.gates.checks.regeneration import differences
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.graphs.model import graph_id
from winnow.reduce.matrix import matrix_of
from winnow.reduce.noise import graph_noise
from winnow.reduce.policy import must_keep
from winnow.selection.document import load_selection
from winnow.selection.expand import expand
from winnow.selection.kernel import Kernel
from winnow.strict.json_reader import load_json
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Judge the reduced selection by the measurements, not by what the reducer said of it."""
    engine, manifest = inspection.engine, inspection.manifest
    evidence = inspection.evidence
    stale = _stale(inspection, evidence)
    if stale is not None:
        return incomplete("reduction", f"{stale}: run `winnow pack` and `winnow sweep`, then `winnow reduce`")
    reduced, selected = expand(load_selection(engine.reduced / "selection.yaml")), inspection.kernels
    measured = {kernel.name for kernel in evidence.kernels}
    findings = [
        *_strangers(reduced, selected),
        *_lost(reduced, selected, measured),
        *_undecided(engine, reduced),
        *differences(generate(manifest, reduced, engine.kept_ids).files(), inspection.reduced_files),
        *_outside(inspection, evidence, {kernel.name for kernel in reduced}),
    ]
    summary = f"{amount(len(reduced), 'kernels')} keep {amount(len(evidence.graphs), 'graphs')} within their epsilon"
    return judged("reduction", summary if not findings else amount(len(reduced), "kernels"), findings)


def _stale(inspection: Inspection, evidence: Evidence) -> str | None:
    """How the measurements are about something else than what lies here now, or None where they are not."""
    graphs = {graph_id(graph): graph.name for graph in inspection.graphs}
    swept = {graph.id: graph.name for graph in evidence.graphs}
    strange = sorted(name for i, name in {**graphs, **swept}.items() if (i in graphs) != (i in swept))
    if strange:
        others = f"{amount(len(strange), 'graphs')} in one of them only, the first {strange[0]}"
        return f"the sweep was of another corpus ({others})"
    there = inspection.shard(inspection.engine.archive, evidence.arch)
    if there is None:
        return None
    shard = there.shard
    packed = {kernel.name: shard.objects[kernel.id].sha256 for kernel in shard.kernels}
    other = [kernel.name for kernel in evidence.kernels if packed.get(kernel.name, kernel.sha256) != kernel.sha256]
    return f"the sweep was of other objects ({len(other)} differ, the first {other[0]})" if other else None


def _lost(reduced: tuple[Kernel, ...], selected: tuple[Kernel, ...], measured: set[str]) -> Iterator[Finding]:
    kept = {kernel.name for kernel in reduced}
    for kernel in selected:
        if kernel.name not in measured and kernel.name not in kept:
            yield Finding(kernel.name, "is gone from the reduced selection, but nothing was measured for its devices")


def _undecided(engine: EngineDir, reduced: tuple[Kernel, ...]) -> Iterator[Finding]:
    """The decisions that travel with a reduced selection must be about it."""
    path = engine.reduced / "decisions.json"
    decisions = load_json(path).data
    kept = {row["kernel"] for row in decisions["kept"]} if isinstance(decisions, dict) and "kept" in decisions else None
    if kept is None:
        yield Finding(path.name, "says nothing about what is kept: run `winnow reduce`", Place(str(path)))
        return
    for name in sorted(kept - {kernel.name for kernel in reduced}):
        yield Finding(name, "is kept by the decisions and not in the reduced selection", Place(str(path)))


def _strangers(reduced: tuple[Kernel, ...], selected: tuple[Kernel, ...]) -> Iterator[Finding]:
    known = {kernel.name: kernel for kernel in selected}
    for kernel in reduced:
        ours = known.get(kernel.name)
        if ours is None:
            yield Finding(kernel.name, "is in the reduced selection and not in the selection", kernel.place)
        elif (ours.kernel_source, ours.metadata, ours.arch) != (kernel.kernel_source, kernel.metadata, kernel.arch):
            yield Finding(kernel.name, "is another kernel in the reduced selection than in the selection", kernel.place)


def _outside(inspection: Inspection, evidence: Evidence, names: set[str]) -> Iterator[Finding]:
    manifest = inspection.manifest
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


GATE = Gate("reduction", ("reduced", "evidence"), check, order=180)
