"""`winnow plan`: how many variants there could be, which knob value costs how many, and whether the budget holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json, seconds, table
from winnow.cli.enumerate import print_ledger
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.selection.lock import Lock
from winnow.selection.plan import SpacePlan
from winnow.steps.plan import Planned, approve_plan, plan_engine
from winnow.wording import amount


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    approve: Annotated[
        bool, typer.Option("--approve", help="Write plan.lock: pack and sweep may do this, and nothing else.")
    ] = False,
    reason: Annotated[str | None, typer.Option(help="Why this is worth its cost; goes into plan.lock.")] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    planned = plan_engine(engine, approve=approve, reason=reason)
    print_json(planned.as_dict()) if as_json else _print(planned, engine.manifest.manifest.enumerate.space)
    if planned.refusal is not None:
        raise planned.refusal
    approve_plan(planned)
    if planned.lock is not None and not as_json:
        _print_lock(planned.lock_file, planned.lock)
    return 0


def _print(planned: Planned, space: str) -> None:
    _print_space(planned.space)
    print(f"the {space} of it")
    print_ledger(planned.enumeration)
    print(f"budget: {planned.refusal.message if planned.refusal else 'everything selected is within it'}")


def _print_lock(path: Path, lock: Lock) -> None:
    print(
        f"{path}: {amount(len(lock.kernels), 'kernels')} for {', '.join(lock.targets)}: "
        f"{amount(lock.objects, 'objects')}, {seconds(lock.estimate.compile_seconds)} to compile on one core; "
        f"{amount(lock.pairs, 'pairs')} with {amount(len(lock.graphs), 'graphs')}, "
        f"{seconds(lock.estimate.sweep_seconds)} to sweep"
    )


def _print_space(plan: SpacePlan) -> None:
    unknown = sum(cell.count is None for cell in plan.cells)
    beside = f", and {amount(unknown, 'cells')} without a tuning space" if unknown else ""
    print(f"{amount(plan.total, 'legal variants')} in the full space{beside}")
    rows = [
        (
            cell.arch,
            cell.candidate,
            ", ".join(f"{k}={v}" for k, v in cell.cell.items()),
            cell.refusal or f"{cell.count:,}",
        )
        for cell in plan.cells
    ]
    print(table(rows))
    values = plan.values()
    if not values:
        return
    print("dropping a knob's value would leave")
    sums: dict[str, int] = {}
    for cell in plan.cells:
        sums[cell.candidate] = sums.get(cell.candidate, 0) + (cell.count or 0)
    print(
        table(
            (candidate, f"{knob}={value}", f"{count:,} with it", f"{sums[candidate] - count:,} left")
            for (candidate, knob, value), count in values.items()
        )
    )
