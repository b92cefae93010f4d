"""`winnow run`: one graph from a packed tree: which kernel, its time, its verdict, the runner-up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json, table
from winnow.cli.options import DEFAULT_MANIFEST, ArchiveOption, DeviceOption, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.runtime.serve import Served
from winnow.steps.run import GraphRun, run_graph


def command(
    graph_file: Annotated[Path, typer.Argument(metavar="GRAPH", help="A hipDNN graph as JSON.")],
    archive: ArchiveOption = None,
    manifest: ManifestOption = DEFAULT_MANIFEST,
    device: DeviceOption = None,
    seconds: Annotated[float, typer.Option(min=0.001, help="How long each kernel is timed.")] = 0.2,
    timeout: Annotated[float, typer.Option(min=0.01, help="Time limit of one launch in seconds.")] = 20.0,
    as_json: JsonOption = False,
) -> int:
    packed = archive or EngineDir(manifest).archive
    ran = run_graph(graph_file, packed, device=device, seconds=seconds, timeout=timeout)
    print_json(ran.as_dict()) if as_json else _print(ran)
    return 0 if ran.passed else 1


def _print(ran: GraphRun) -> None:
    print(f"{ran.graph}  ({ran.engine} on {ran.arch}, {ran.applicable} of {ran.kernels} kernels serve it)")
    roles = ("chosen", "runner-up")
    print(
        table((role, one.kernel.name, _time(one), _verdict(one)) for role, one in zip(roles, ran.served, strict=False))
    )
    if len(ran.served) == 1:
        print("  runner-up  none: no other kernel serves this graph")


def _time(served: Served) -> str:
    return "" if served.median_ns is None else f"{served.median_ns / 1e6:.4f} ms"


def _verdict(served: Served) -> str:
    detail = served.correctness.detail
    return served.correctness.state + (f": {detail}" if detail else "")
