"""`winnow enumerate`: registry → selection, with a ledger of everything that was asked."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json, table
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.selection.enumeration import Enumeration
from winnow.steps.enumerate import Enumerated, Space, enumerate_engine, write_enumeration
from winnow.wording import amount


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    space: Annotated[Space | None, typer.Option(help="Which points [default: the manifest's].")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Where the selection goes [default: beside the manifest].")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    enumeration = enumerate_engine(engine, space=space)
    if not as_json:
        print_ledger(enumeration)
    if enumeration.over is not None:
        if as_json:
            print_json(Enumerated(enumeration, None).as_dict())
        raise enumeration.over
    written = write_enumeration(engine, enumeration, output=output)
    for comment in written.lost_comments:
        print(f"winnow: {written.selection}: what this comment stood at is gone: {comment}", file=sys.stderr)
    if as_json:
        print_json(written.as_dict())
    else:
        print(f"{written.selection}: {amount(len(enumeration.variants), 'kernels')}")
    return 0


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
