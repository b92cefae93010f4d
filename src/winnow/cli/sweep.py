"""`winnow sweep`: measure every kernel on every graph; a rerun resumes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from winnow.cli.console import print_json, seconds, table
from winnow.cli.options import DEFAULT_MANIFEST, ArchiveOption, DeviceOption, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.graphs.reader import read_corpus
from winnow.steps.approval import check_approval, packed_catalogs
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
    check_approval(engine, packed_catalogs(archive or engine.archive), read_corpus(corpus or engine.corpus))
    result = sweep_engine(engine, device, archive=archive, corpus=corpus, rounds=rounds, budget=budget)
    if as_json:
        print_json(document(result))
    else:
        counts = result.ledger.counts
        took = f"{amount(result.rounds, 'rounds')} in {seconds(result.seconds)}"
        print(f"{engine.database}: {took} (ended by its {result.ended})")
        print(table((state, count) for state, count in counts.items()))
        for outcome in (o for o in result.ledger.outcomes if o.state in ("failed", "unchecked")):
            print(f"    {outcome.kernel} on {outcome.graph}: {outcome.state} {outcome.stage}: {outcome.reason}")
    return 0 if result.ledger.adds_up else 3


def document(result: SweepResult) -> dict[str, Any]:
    """A sweep's result as plain data."""
    return {
        "rounds": result.rounds,
        "ended": result.ended,
        "seconds": round(result.seconds, 3),
        "counts": dict(result.ledger.counts),
        "ledger": [vars(outcome) for outcome in result.ledger.outcomes],
    }
