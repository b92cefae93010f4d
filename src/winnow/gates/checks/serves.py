"""Gate `serves`: the packed engine serves every graph of the corpus on the device, and its results are right."""

from __future__ import annotations

from collections.abc import Iterator

from winnow.archive.verify import shards_of
from winnow.devices.device import Device
from winnow.errors import Refused
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.packed import Packed
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.graphs.model import Graph
from winnow.runtime.execution import Execution
from winnow.runtime.load import Engine
from winnow.runtime.serve import applicable, run_kernel
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Run each graph once with the kernel that the engine chooses, from the archive and from the reduced one."""
    graphs, device = inspection.graphs, inspection.open_device()
    served_by: list[Packed] = []
    for path in inspection.archives:
        if not path.is_dir():
            continue
        packed = inspection.shard(path, device.arch)
        if packed is None:
            shards = shards_of(path)
            cure = f"run `winnow pack --arch {device.arch}` (shards here: {', '.join(shards) or 'none'})"
            return incomplete("serves", f"{path}: no shard for {device.arch}, which this machine runs; {cure}")
        served_by.append(packed)
    findings = [finding for packed in served_by for finding in _unserved(packed, device, graphs)]
    served = f"{amount(len(graphs), 'graphs')} from {amount(len(served_by), 'archives')} on {inspection.runtime}"
    return judged("serves", served, findings)


def _unserved(packed: Packed, device: Device, graphs: tuple[Graph, ...]) -> Iterator[Finding]:
    for graph in graphs:
        reason = _reason(packed.engine, device, graph)
        if reason is not None:
            yield Finding(graph.name, f"{reason} (archive {packed.archive})")


def _reason(engine: Engine, device: Device, graph: Graph) -> str | None:
    try:
        problem, ranked = applicable(engine, graph)
    except Refused as refusal:
        return refusal.message
    with Execution(device, engine.adapter, problem, seed=0) as execution:
        served = run_kernel(engine, device, execution, ranked[0], min_seconds=0.0, max_launches=0)
    if served.correctness.state == "passed":
        return None
    return f"{served.kernel.name}: {served.correctness.state}: {served.correctness.detail}"


GATE = Gate("serves", ("archive", "corpus", "device"), check, order=170)
