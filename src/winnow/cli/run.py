"""`winnow run`: one graph from a packed tree: which kernel, its time, its verdict, the runner-up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from winnow.archive.verify import shards_of
from winnow.cli.console import print_json, table
from winnow.cli.options import DEFAULT_MANIFEST, ArchiveOption, DeviceOption, JsonOption, ManifestOption
from winnow.devices.find import open_device, runtime_for
from winnow.engine_dir import EngineDir
from winnow.graphs.reader import read_graph
from winnow.runtime.execution import Execution
from winnow.runtime.load import load_engine
from winnow.runtime.serve import Served, applicable, run_kernel


def command(
    graph_file: Annotated[Path, typer.Argument(metavar="GRAPH", help="A hipDNN graph as JSON.")],
    archive: ArchiveOption = None,
    manifest: ManifestOption = DEFAULT_MANIFEST,
    device: DeviceOption = None,
    seconds: Annotated[float, typer.Option(min=0.001, help="How long each kernel is timed.")] = 0.2,
    timeout: Annotated[float, typer.Option(min=0.01, help="Time limit of one launch in seconds.")] = 20.0,
    as_json: JsonOption = False,
) -> int:
    graph = read_graph(graph_file)
    packed = archive or EngineDir(manifest).archive
    with open_device(device or runtime_for(shards_of(packed)), timeout_s=timeout) as runtime:
        engine = load_engine(packed, runtime.arch)
        problem, ranked = applicable(engine, graph)
        with Execution(runtime, engine.adapter, problem, seed=0) as execution:
            served = [
                run_kernel(engine, runtime, execution, kernel, min_seconds=seconds, max_launches=10_000)
                for kernel in ranked[:2]
            ]
    if as_json:
        print_json(_document(graph.name, engine.name, engine.arch, len(ranked), len(engine.kernels), served))
    else:
        print(
            f"{graph.name}  ({engine.name} on {engine.arch}, {len(ranked)} of {len(engine.kernels)} kernels serve it)"
        )
        roles = ("chosen", "runner-up")
        print(
            table((role, one.kernel.name, _time(one), _verdict(one)) for role, one in zip(roles, served, strict=False))
        )
        if len(served) == 1:
            print("  runner-up  none: no other kernel serves this graph")
    return 0 if served[0].correctness.state == "passed" else 1


def _time(served: Served) -> str:
    return "" if served.median_ns is None else f"{served.median_ns / 1e6:.4f} ms"


def _verdict(served: Served) -> str:
    detail = served.correctness.detail
    return served.correctness.state + (f": {detail}" if detail else "")


def _document(graph: str, engine: str, arch: str, serving: int, kernels: int, served: list[Served]) -> dict[str, Any]:
    rows = [
        {
            "kernel": one.kernel.name,
            "median_ns": one.median_ns,
            "correctness": one.correctness.state,
            "detail": one.correctness.detail,
        }
        for one in served
    ]
    return {
        "graph": graph,
        "engine": engine,
        "arch": arch,
        "kernels": kernels,
        "applicable": serving,
        "chosen": rows[0],
        "runner_up": rows[1] if len(rows) > 1 else None,
    }
