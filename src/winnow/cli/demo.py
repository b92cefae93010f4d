"""`winnow demo`: the whole loop in one directory, from the registry to a reduced, verified catalog and its report."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from winnow.cli.check import print_verdicts
from winnow.cli.console import print_json, table
from winnow.cli.options import DeviceOption, JobsOption, JsonOption
from winnow.descriptors.tree import read_catalog
from winnow.devices.find import open_device, runtime_for
from winnow.engine_dir import EngineDir
from winnow.engines import copy_engine
from winnow.files import write_atomic
from winnow.gates import exit_code, run_gates
from winnow.gates.verdict import Verdict
from winnow.report.gather import gather
from winnow.report.page import write_report
from winnow.report.summary import Summary
from winnow.selection.enumerate import enumerate_variants
from winnow.selection.plan import plan_space
from winnow.steps.enumerate import selection_of
from winnow.steps.generate import write_catalog
from winnow.steps.pack import pack_engine
from winnow.steps.reduce import reduce_engine
from winnow.steps.sweep import sweep_engine
from winnow.wording import amount

T = TypeVar("T")


def command(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where the engine goes.")] = Path("winnow-demo"),
    engine_name: Annotated[
        str, typer.Option("--engine", help="The built-in engine: gemm_cpu or attention_cpu.")
    ] = "gemm_cpu",
    device: DeviceOption = None,
    jobs: JobsOption = None,
    budget: Annotated[float, typer.Option(min=10, help="Seconds after which the sweep starts no new round.")] = 150.0,
    as_json: JsonOption = False,
) -> int:
    stages = _Stages(quiet=as_json)
    copied = stages.run(
        "init", lambda: copy_engine(engine_name, directory), lambda n: f"{amount(n, 'files')} of {engine_name}"
    )
    engine = EngineDir(directory / "engine.yaml")
    manifest = engine.manifest.manifest
    device = device or runtime_for(manifest.enumerate.candidates.arch)
    with open_device(device, timeout_s=manifest.sweep.timeout_seconds) as runtime:
        arch = runtime.arch
    stages.run("count", lambda: plan_space(engine.manifest), lambda p: amount(p.total, "legal variants"))
    enumeration = stages.run(
        "enumerate",
        lambda: enumerate_variants(engine.manifest),
        lambda e: ", ".join(f"{count} {outcome}" for outcome, count in e.counts().items()),
    )
    write_atomic(engine.selection_file, selection_of(engine.manifest, enumeration))
    stages.run(
        "generate",
        lambda: write_catalog(manifest, engine.selection, engine.catalog, engine.kept_ids),
        lambda written: f"{amount(written[1], 'kernels')} in {amount(written[0], 'descriptor files')}",
    )
    (packed,) = stages.run(
        "pack",
        lambda: pack_engine(engine, read_catalog(engine.catalog), [arch], engine.archive, jobs),
        lambda r: f"{amount(r[0].kernels, 'variants')} for {arch}, {r[0].built} compiled, {r[0].cached} from the cache",
    )
    stages.run(
        "sweep",
        lambda: sweep_engine(engine, device, budget=budget),
        lambda s: f"{s.ledger.counts['served']} pairs of graph and kernel served, {amount(s.rounds, 'rounds')}",
    )
    result = stages.run(
        "reduce",
        lambda: reduce_engine(engine, engine.reduced),
        lambda r: f"{len(r.kept)} of {packed.kernels} variants kept",
    )
    stages.run(
        "repack",
        lambda: pack_engine(engine, read_catalog(engine.reduced / "catalog"), [arch], engine.reduced / "archive", jobs),
        lambda r: f"{amount(r[0].kernels, 'variants')}, {r[0].cached} from the cache",
    )
    verdicts = stages.run(
        "check",
        lambda: run_gates(engine, [], device),
        lambda v: f"{sum(g.state == 'passed' for g in v)} of {len(v)} gates passed",
    )
    page = engine.build / "report.html"
    summary, _ = stages.run("report", lambda: _report(engine, verdicts, page), lambda made: f"{made[1]:,} bytes")
    if as_json:
        print_json({**summary.as_dict(), "files": copied, "stages": stages.seconds, "report": str(page)})
    else:
        print(f"\n{engine_name} on {arch}")
        print(table(summary.rows()))
        print("gates")
        print_verdicts(verdicts)
        print(f"report: {page}")
    return exit_code(verdicts) or int(result.refused)


def _report(engine: EngineDir, verdicts: list[Verdict], page: Path) -> tuple[Summary, int]:
    summary = gather(engine, verdicts)
    return summary, write_report(summary, page)


class _Stages:
    """Prints one line a stage: its name, what it did, and how long it took."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.seconds: dict[str, float] = {}

    def run(self, name: str, work: Callable[[], T], shown: Callable[[T], str]) -> T:
        began = time.monotonic()
        value = work()
        self.seconds[name] = round(time.monotonic() - began, 2)
        if not self.quiet:
            print(f"  {name:<10} {shown(value):<72} {self.seconds[name]:7.1f} s", flush=True)
        return value
