"""`winnow reduce`: measurements → a smaller selection, with the reason for everything that goes and stays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json, table
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption, of_group
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.reduce.result import ReductionResult
from winnow.steps.reduce import reduce_engine
from winnow.wording import amount


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    budget: Annotated[int | None, typer.Option(min=1, help="Most kernels to keep [default: the manifest's].")] = None,
    apply_rules: Annotated[
        bool, typer.Option("--apply-rules", help="Drop only what the knob rules drop; keep what has to be named.")
    ] = False,
    incumbents: Annotated[
        Path | None, typer.Option(help="A selection that ships today: preferred among equals.")
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option(help="Evidence from elsewhere [default: the engine's own sweep].")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="Form of --evidence [default: by its name].", autocompletion=of_group("winnow.importers")
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Directory of the reduced engine [default: build/reduced].")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    target = output or engine.reduced
    if form is not None and evidence is None:
        raise InputError("--format goes with --evidence only")
    result = reduce_engine(
        engine,
        output=target,
        budget=budget,
        apply_rules=apply_rules,
        incumbents=incumbents,
        evidence_file=evidence,
        form=form,
    )
    if as_json:
        print_json(result.as_dict())
    else:
        _print(result, target)
    return 1 if result.refused else 0


def _print(result: ReductionResult, target: Path) -> None:
    chosen = result.scores.chosen
    print(
        f"{target}: {len(result.kept)} of {len(result.kept) + len(result.dropped)} kernels kept on {result.arch}, "
        f"{len(result.unjudged)} of them not judged here"
    )
    rows = [
        ("geomean", f"{chosen.geomean:.4f}", f"({chosen.low:.4f} to {chosen.high:.4f})"),
        ("time-weighted", f"{chosen.time_weighted:.4f}", ""),
        ("worst graph", f"{chosen.worst:.4f}", chosen.worst_graph),
    ]
    print("retained performance, on rounds that did not choose")
    print(table(rows))
    print("kept")
    print(
        table(
            (kept.kernel, ", ".join(kept.roles) or f"needed by {amount(len(kept.needed_by), 'graphs')}")
            for kept in result.kept
        )
    )
    print("as rules")
    for rule in result.rules.rules:
        print(f"  {rule.text}")
    if result.rules.named:
        print(f"  and by name: {', '.join(result.rules.named)}")
    for name in result.outside:
        print(f"  refused: {name} leaves its epsilon under this budget")
    for problem in result.uncovered:
        print(f"  refused: {problem}")
