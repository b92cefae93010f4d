"""`winnow coverage`: what the selection serves of a corpus, and what only the registry would."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json, table
from winnow.cli.options import ARCHES, DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.coverage.cover import OUTCOMES, counts
from winnow.engine_dir import EngineDir
from winnow.steps.coverage import CoverageResult, cover_engine


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    shapes: Annotated[list[Path] | None, typer.Option("--shapes", help="A file of shapes; may be repeated.")] = None,
    corpus: Annotated[list[Path] | None, typer.Option("--corpus", help="A directory of graphs.")] = None,
    arches: Annotated[
        list[str] | None, typer.Option("--arch", help="Only these arches [default: all].", autocompletion=ARCHES)
    ] = None,
    as_json: JsonOption = False,
) -> int:
    found = cover_engine(EngineDir(manifest), shapes=shapes or (), corpora=corpus or (), arches=arches or ())
    print_json(found.as_dict()) if as_json else _print(found)
    return int(found.refused)


def _print(found: CoverageResult) -> None:
    arches = dict.fromkeys(result.arch for result in found.results)
    by_arch = {arch: counts(result for result in found.results if result.arch == arch) for arch in arches}
    print(table([("", *arches), *((outcome, *(by_arch[arch][outcome] for arch in arches)) for outcome in OUTCOMES)]))
    reasons = Counter((r.outcome, r.reason) for r in found.results if r.outcome in ("outside", "declined"))
    for (outcome, reason), count in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1], item[0][1])):
        print(f"  {count} {outcome}: {reason}")
    for result in found.results:
        if result.outcome == "GAP":
            where = "" if result.place is None else f"  [{result.place}]"
            print(f"  GAP {result.shape} on {result.arch}: {result.reason}{where}")
    if found.vacuous:
        print("  nothing of this corpus is served by the registry, so nothing was checked")
