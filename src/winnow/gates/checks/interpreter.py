"""Gate `interpreter`: the source of every Triton kernel computes the right numbers, by Triton's own interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from winnow.compilers.source import TritonSource
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, incomplete, judged, passed
from winnow.interpreter.probe import Probe, Probed, run_probes
from winnow.interpreter.sample import sample
from winnow.pack.hydrate import Authored, build_source, check_support, hydrate
from winnow.runtime.behaviour import Behaviour, behaviour
from winnow.selection.kernel import Kernel
from winnow.wording import amount


@dataclass(frozen=True)
class _Numbers:
    """A kernel with one source: what the interpreter runs says nothing of warps or registers, so many may share it."""

    kernel: Kernel
    source: TritonSource


def check(inspection: Inspection) -> Verdict:
    """Run kernels on the family's probe graphs, in a process of their own, and compare with float64.

    A sample is run that holds every tile configuration with every value of each field of a cell, or `everything`.
    """
    manifest = inspection.manifest
    if manifest.kernel_source_kind != "triton":
        return passed("interpreter", f"kernels of kind {manifest.kernel_source_kind}: none in Triton")
    behaves = _behaviour(inspection)
    if not isinstance(behaves.adapter, Probed):
        return incomplete("interpreter", f'the family "{behaves.adapter.name}" names no probe graphs')
    kernels = inspection.kernels
    distinct = _distinct(inspection, kernels)
    metadata = [item.kernel.metadata for item in distinct]
    chosen = range(len(distinct)) if inspection.everything else sample(metadata, manifest.reduction.cell)
    findings: list[Finding] = []
    probes: list[tuple[Kernel, Probe]] = []
    for item in (distinct[i] for i in chosen):
        for probe in _probes(item, behaves, behaves.adapter, inspection):
            if isinstance(probe, Finding):
                findings.append(probe)
            else:
                probes.append((item.kernel, probe))

    def progress(done: int, total: int) -> None:
        inspection.progress(done, total, "interpreter")

    verdicts = run_probes(behaves.adapter, [probe for _, probe in probes], progress=progress)
    for (kernel, probe), verdict in zip(probes, verdicts, strict=True):
        if verdict.state != "passed":
            findings.append(Finding(kernel.name, f"probe {probe.graph}: {verdict.detail}", kernel.place))
    share = "all" if len(chosen) == len(distinct) else f"{len(chosen)} of"
    sources, built = amount(len(distinct), "distinct sources"), amount(len(kernels), "kernels")
    summary = f"{share} {sources} of {built}, {amount(len(probes), 'launches')}"
    return judged("interpreter", summary, findings)


def _behaviour(inspection: Inspection) -> Behaviour:
    dumped = inspection.manifest.model_dump(
        include={"family", "match", "launch_surface"}, exclude_none=True, mode="json"
    )
    return behaviour(dumped, str(inspection.engine.manifest_file))


def _distinct(inspection: Inspection, kernels: tuple[Kernel, ...]) -> list[_Numbers]:
    """One kernel for each source that computes differently, with what its builder makes of its spec."""
    allowed = inspection.manifest.allowed_modules
    found: dict[object, _Numbers] = {}
    for kernel in kernels:
        source = kernel.source
        authored = Authored(kernel.name, kernel.place, str(source["source"]), str(source["builder"]), kernel.spec)
        hydrated = hydrate(authored, allowed=allowed)
        for arch in kernel.arch:
            check_support(hydrated, arch)
            built = build_source(hydrated, arch)
            if not isinstance(built, TritonSource):
                raise authored.fail(f"{hydrated.builder_name} gave a {type(built).__name__}", key="builder")
            key = (built.text, built.function, built.signature, built.constexprs)
            found.setdefault(key, _Numbers(kernel, built))
    return list(found.values())


def _probes(item: _Numbers, behaves: Behaviour, family: Probed, inspection: Inspection) -> Iterator[Probe | Finding]:
    declared = {f.name: f.default_value for f in inspection.manifest.kmd_fields if f.default_value is not None}
    metadata = {**declared, **item.kernel.metadata}
    for graph in family.probes(metadata):
        problem = behaves.adapter.problem(graph)
        refusal = behaves.matcher.refusal(metadata, problem.fields)
        if refusal is not None:
            yield Finding(item.kernel.name, f"is not matched with its probe {graph.name}: {refusal}", item.kernel.place)
            continue
        grid = behaves.launcher.grid(metadata, problem.fields)
        yield Probe(item.kernel.name, item.source, problem, grid, graph.name)


GATE = Gate("interpreter", (), check, order=130)
