"""`winnow sweep`: measure every kernel on every graph; a rerun resumes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import Progress, print_json, seconds, table
from winnow.cli.options import DEFAULT_MANIFEST, ArchiveOption, DeviceOption, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.steps.sweep import sweep_engine
from winnow.sweep.session import SweepResult
from winnow.wording import amount


def command(
    archive: ArchiveOption = None,
    manifest: ManifestOption = DEFAULT_MANIFEST,
    device: DeviceOption = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="Directory of graphs [default: corpus beside the manifest].")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=2, help="Rounds of timing [default: the manifest's].")] = None,
    budget: Annotated[float | None, typer.Option(min=1.0, help="Seconds after which no round is started.")] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    with Progress("sweep") as progress:
        result = sweep_engine(
            engine,
            device=device,
            archive=archive,
            corpus=corpus,
            rounds=rounds,
            budget=budget,
            progress=progress,
        )
    print_json(result.as_dict()) if as_json else _print(result, engine.database)
    return 0 if result.ledger.adds_up else 3


def _print(result: SweepResult, database: Path) -> None:
    took = f"{amount(result.rounds, 'rounds')} in {seconds(result.seconds)}"
    print(f"{database}: {took} (ended by its {result.ended})")
    print(table((state, count) for state, count in result.ledger.counts.items()))
    for outcome in (o for o in result.ledger.outcomes if o.state in ("failed", "unchecked")):
        print(f"    {outcome.kernel} on {outcome.graph}: {outcome.state} {outcome.stage}: {outcome.reason}")
