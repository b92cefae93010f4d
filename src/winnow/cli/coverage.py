"""`winnow coverage`: what the selection serves of a corpus, and what only the registry would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json, table
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.coverage.asked import asked_graphs, asked_shapes
from winnow.coverage.cover import OUTCOMES, Covered, counts, cover, vacuous
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.gates.coverage import problems_of
from winnow.graphs.reader import read_corpus
from winnow.graphs.shapes import read_shapes
from winnow.selection.expand import expand


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    shapes: Annotated[list[Path] | None, typer.Option("--shapes", help="A file of shapes; may be repeated.")] = None,
    corpus: Annotated[list[Path] | None, typer.Option("--corpus", help="A directory of graphs.")] = None,
    arches: Annotated[list[str] | None, typer.Option("--arch", help="Only these arches [default: all].")] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    problems = [
        *(asked for file in shapes or () for asked in asked_shapes(engine.manifest, read_shapes(file))),
        *(asked for path in corpus or () for asked in asked_graphs(engine.manifest, read_corpus(path))),
    ]
    results = cover(engine.manifest, expand(engine.selection), problems or problems_of(engine), arches or ())
    if not results:
        raise InputError("there is nothing to cover", cure="name a file with --shapes or a directory with --corpus")
    if as_json:
        print_json({"counts": counts(results), "results": [result.as_dict() for result in results]})
    else:
        _print(results)
    return int(vacuous(results) or counts(results)["GAP"] > 0)


def _print(results: Sequence[Covered]) -> None:
    arches = dict.fromkeys(result.arch for result in results)
    by_arch = {arch: counts(result for result in results if result.arch == arch) for arch in arches}
    print(table([("", *arches), *((outcome, *(by_arch[arch][outcome] for arch in arches)) for outcome in OUTCOMES)]))
    reasons = Counter((r.outcome, r.reason) for r in results if r.outcome in ("outside", "declined"))
    for (outcome, reason), count in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1], item[0][1])):
        print(f"  {count} {outcome}: {reason}")
    for result in results:
        if result.outcome == "GAP":
            where = "" if result.place is None else f"  [{result.place}]"
            print(f"  GAP {result.shape} on {result.arch}: {result.reason}{where}")
    if vacuous(results):
        print("  nothing of this corpus is served by the registry, so nothing was checked")
