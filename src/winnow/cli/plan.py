"""`winnow plan`: how many variants there could be, which knob value costs how many, and whether the budget holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from winnow.cli.console import print_json, seconds, table
from winnow.cli.enumerate import document as enumerated
from winnow.cli.enumerate import print_ledger
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.selection.enumerate import walk_registry
from winnow.selection.lock import Lock, write_lock
from winnow.selection.plan import SpacePlan, plan_space
from winnow.steps.plan import lock_of
from winnow.wording import amount


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    approve: Annotated[
        bool, typer.Option("--approve", help="Write plan.lock: pack and sweep may do this, and nothing else.")
    ] = False,
    reason: Annotated[str | None, typer.Option(help="Why this is worth its cost; goes into plan.lock.")] = None,
    as_json: JsonOption = False,
) -> int:
    if approve != bool(reason and reason.strip()):
        raise InputError("--approve and --reason go together", cure='winnow plan --approve --reason "why"')
    engine = EngineDir(manifest)
    plan = plan_space(engine.manifest)
    enumeration = walk_registry(engine.manifest)
    lock = lock_of(engine, str(reason)) if approve and enumeration.over is None else None
    if as_json:
        told = {**document(plan), **enumerated(enumeration)}
        print_json(told if lock is None else {**told, "lock": str(engine.lock_file)})
    else:
        _print(plan)
        print(f"the {engine.manifest.manifest.enumerate.space} of it")
        print_ledger(enumeration)
        print(f"budget: {enumeration.over.message if enumeration.over else 'everything selected is within it'}")
    if enumeration.over is not None:
        raise enumeration.over
    if lock is not None:
        write_lock(engine.lock_file, lock)
        if not as_json:
            _print_lock(engine.lock_file, lock)
    return 0


def _print_lock(path: Path, lock: Lock) -> None:
    print(
        f"{path}: {amount(len(lock.kernels), 'kernels')} for {', '.join(lock.targets)}: "
        f"{amount(lock.objects, 'objects')}, {seconds(lock.estimate.compile_seconds)} to compile on one core; "
        f"{amount(lock.pairs, 'pairs')} with {amount(len(lock.graphs), 'graphs')}, "
        f"{seconds(lock.estimate.sweep_seconds)} to sweep"
    )


def _print(plan: SpacePlan) -> None:
    untold = sum(cell.count is None for cell in plan.cells)
    beside = f", and {untold} cells whose candidates tell no tuning space" if untold else ""
    print(f"{amount(plan.total, 'legal variants')} in the full space{beside}")
    rows = [
        (
            cell.arch,
            cell.candidate,
            ", ".join(f"{k}={v}" for k, v in cell.cell.items()),
            _shown(cell.count, cell.refusal),
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


def _shown(count: int | None, refusal: str) -> str:
    return refusal or f"{count:,}"


def document(plan: SpacePlan) -> dict[str, Any]:
    """A plan as plain data."""
    return {
        "total": plan.total,
        "cells": [
            {
                "arch": cell.arch,
                "candidate": cell.candidate,
                "cell": dict(cell.cell),
                "count": cell.count,
                "refusal": cell.refusal or None,
                "marginals": {k: [[str(v), n] for v, n in counts.items()] for k, counts in cell.marginals.items()},
            }
            for cell in plan.cells
        ],
        "values": [
            {"candidate": candidate, "knob": knob, "value": str(value), "variants": count}
            for (candidate, knob, value), count in plan.values().items()
        ],
    }
