"""Gate `serves`: the packed engine serves every graph of the corpus on the device, and its results are right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from winnow.archive.verify import shards_of
from winnow.devices.device import Device
from winnow.devices.find import find_runtime, runtime_for
from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Refused
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.graphs.model import Graph
from winnow.graphs.reader import read_corpus
from winnow.runtime.execution import Execution
from winnow.runtime.load import Engine, load_engine
from winnow.runtime.serve import applicable, run_kernel
from winnow.wording import amount


def check(engine: EngineDir, device_name: str | None) -> Verdict:
    """Run each graph once with the kernel that the engine chooses, from the archive and from the reduced one."""
    if not engine.archive.is_dir():
        return incomplete("serves", f"no archive at {engine.archive}: run `winnow pack` first")
    archives = [path for path in (engine.archive, engine.reduced / "archive") if path.is_dir()]
    name = device_name or runtime_for(shards_of(engine.archive))
    opener = find_runtime(name)
    graphs = read_corpus(engine.corpus)
    try:
        opened = opener(timeout_s=engine.manifest.manifest.sweep.timeout_seconds)
    except InputError as error:
        return incomplete("serves", str(error).replace("\n", ";"))
    with opened as device:
        for path in archives:
            if device.arch not in (shards := shards_of(path)):
                cure = f"run `winnow pack --arch {device.arch}` (shards here: {', '.join(shards) or 'none'})"
                return incomplete("serves", f"{path}: no shard for {device.arch}, which this machine runs; {cure}")
        findings = [finding for path in archives for finding in _unserved(path, device, graphs)]
    served = f"{amount(len(graphs), 'graphs')} from {amount(len(archives), 'archives')} on {name}"
    return judged("serves", served, findings)


def _unserved(archive: Path, device: Device, graphs: tuple[Graph, ...]) -> Iterator[Finding]:
    engine = load_engine(archive, device.arch)
    for graph in graphs:
        reason = _reason(engine, device, graph)
        if reason is not None:
            yield Finding(graph.name, f"{reason} (archive {archive})")


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
