"""`winnow enumerate`: registry → selection, with a ledger of everything that was asked."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from winnow.cli.console import print_json, table
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.files import read_text
from winnow.selection.comments import keep_comments
from winnow.selection.document import write_selection
from winnow.selection.enumerate import walk_registry
from winnow.selection.enumeration import Enumeration
from winnow.steps.enumerate import selection_of
from winnow.wording import amount


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    space: Annotated[
        Literal["slice", "production", "full"] | None, typer.Option(help="Which points [default: the manifest's].")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Where the selection goes [default: beside the manifest].")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    enumeration = walk_registry(engine.manifest, space=space)
    target = output or engine.selection_file
    if as_json:
        print_json({"selection": None if enumeration.over else str(target), **document(enumeration)})
    else:
        print_ledger(enumeration)
    if enumeration.over is not None:
        raise enumeration.over
    text = selection_of(engine.manifest, enumeration)
    lost: list[str] = []
    if target.is_file():
        text, lost = keep_comments(read_text(target), text, str(target))
    write_selection(target, text)
    for comment in lost:
        print(f"winnow: {target}: what this comment stood at is gone: {comment}", file=sys.stderr)
    if not as_json:
        print(f"{target}: {amount(len(enumeration.variants), 'kernels')}")
    return 0


def document(enumeration: Enumeration) -> dict[str, object]:
    """Counts and ledger as plain data."""
    return {
        "counts": enumeration.counts(),
        "over_budget": None if enumeration.over is None else enumeration.over.message,
        "allowed": [{**one.allowance.model_dump(), "kernels": one.kernels} for one in enumeration.allowed],
        "ledger": [asdict(entry) for entry in enumeration.ledger],
    }


def print_ledger(enumeration: Enumeration) -> None:
    """How many points ended how, and why; what the budget made an exception for."""
    counts = enumeration.counts()
    reasons: Counter[tuple[str, str]] = Counter()
    for entry in enumeration.ledger:
        if entry.reason:
            reasons[entry.outcome, entry.reason] += entry.points
    print(table([("asked", sum(counts.values())), *counts.items()]))
    if reasons:
        ordered = sorted(reasons.items(), key=lambda item: (list(counts).index(item[0][0]), -item[1], item[0][1]))
        print(table((count, outcome, reason) for (outcome, reason), count in ordered))
    for allowed in enumeration.allowed:
        print(f"  allowed past the budget: {allowed}")
