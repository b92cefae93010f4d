"""`winnow demo`: the whole loop in one directory, from the registry to a reduced, verified catalog and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.check import print_verdicts
from winnow.cli.console import Progress, print_json, table
from winnow.cli.options import DeviceOption, JobsOption, JsonOption
from winnow.steps.demo import Demonstrated, demonstrate, untold


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
    shown = demonstrate(
        directory,
        engine_name,
        device=device,
        jobs=jobs,
        budget=budget,
        watch=Progress,
        told=untold if as_json else _print_stage,
    )
    print_json(shown.as_dict()) if as_json else _print(shown)
    return shown.exit_code


def _print_stage(name: str, what: str, seconds: float) -> None:
    print(f"  {name:<10} {what:<72} {seconds:7.1f} s", flush=True)


def _print(shown: Demonstrated) -> None:
    print(f"\n{shown.engine} on {shown.arch}")
    print(table(shown.summary.rows()))
    print("gates")
    print_verdicts(shown.checked.verdicts)
    print(f"report: {shown.page}")
