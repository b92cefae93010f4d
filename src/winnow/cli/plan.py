"""`winnow plan`: how many variants there could be, which knob value costs how many, and whether the budget holds."""

from __future__ import annotations

from typing import Any

from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.enumerate import enumerate_variants
from winnow.catalog.plan import SpacePlan, plan_space
from winnow.cli.console import print_json, table
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.errors import Refused


def command(manifest: ManifestOption = DEFAULT_MANIFEST, as_json: JsonOption = False) -> int:
    engine = EngineDir(manifest)
    plan = plan_space(engine.manifest)
    selected, over = _budget(engine)
    if as_json:
        print_json({**document(plan), "selected": selected, "over_budget": None if over is None else over.message})
    else:
        _print(plan)
        space = engine.manifest.manifest.enumerate.space
        print(f"budget: {over.message if over else f'{selected} kernels of the {space} are within it'}")
    return 0 if over is None else over.exit_code


def _budget(engine: EngineDir) -> tuple[int | None, Refused | None]:
    try:
        return len(enumerate_variants(engine.manifest).variants), None
    except Refused as over:
        return None, over


def _print(plan: SpacePlan) -> None:
    print(f"{plan.total:,} legal variants in the full space")
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
    print("dropping a knob's value would leave")
    values = plan.values()
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
