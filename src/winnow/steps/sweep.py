"""Measure an engine's packed kernels on its corpus."""

from __future__ import annotations

from pathlib import Path

from winnow.archive.verify import shards_of
from winnow.cli.console import Progress
from winnow.devices.find import open_device, runtime_for
from winnow.engine_dir import EngineDir
from winnow.graphs.reader import read_corpus
from winnow.runtime.load import load_engine
from winnow.sweep.session import SweepResult, run_sweep


def sweep_engine(
    engine: EngineDir,
    device: str | None,
    *,
    archive: Path | None = None,
    corpus: Path | None = None,
    rounds: int | None = None,
    budget: float | None = None,
) -> SweepResult:
    """Measure an engine's packed kernels on a corpus into its database, showing progress."""
    plan = engine.manifest.manifest.sweep
    graphs = read_corpus(corpus or engine.corpus)
    progress = Progress("sweep")
    shards = archive or engine.archive
    with open_device(device or runtime_for(shards_of(shards)), timeout_s=plan.timeout_seconds) as runtime:
        packed = load_engine(shards, runtime.arch)
        try:
            return run_sweep(
                packed,
                runtime,
                graphs,
                plan,
                engine.database,
                corpus=str((corpus or engine.corpus).name),
                rounds=rounds,
                budget=budget,
                report=lambda at: progress(at.done, at.total, f"{at.stage} {at.note}", at.seconds_left),
            )
        finally:
            progress.finish()
