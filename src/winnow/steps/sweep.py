"""Measure an engine's packed kernels on its corpus, into its database."""

from __future__ import annotations

from pathlib import Path

from winnow.archive.verify import shards_of
from winnow.devices.find import open_device, runtime_for
from winnow.engine_dir import EngineDir
from winnow.graphs.reader import read_corpus
from winnow.runtime.load import load_engine
from winnow.steps.approval import check_approval, packed_catalogs
from winnow.steps.progress import Progress, silent
from winnow.sweep.session import SweepResult, run_sweep


def sweep_engine(
    engine: EngineDir,
    *,
    device: str | None = None,
    archive: Path | None = None,
    corpus: Path | None = None,
    rounds: int | None = None,
    budget: float | None = None,
    progress: Progress = silent,
) -> SweepResult:
    """Measure every kernel of the shard for this machine's device on every graph; a rerun resumes.

    `device` is a device runtime, by default the one that the archive is for. `rounds` overrides the manifest's number;
    after `budget` seconds no round is started.

    Raises:
        InputError: no archive, no corpus, no device, or a database that cannot be used.
        Refused: over the budget or not what was approved, or no kernel serves any graph.
        Incomplete: the budget ended before the rounds that evidence needs.
    """
    plan = engine.manifest.manifest.sweep
    shards, folder = archive or engine.archive, corpus or engine.corpus
    graphs = read_corpus(folder)
    check_approval(engine, packed_catalogs(shards), graphs)
    with open_device(device or runtime_for(shards_of(shards)), timeout_s=plan.timeout_seconds) as runtime:
        return run_sweep(
            load_engine(shards, runtime.arch),
            runtime,
            graphs,
            plan,
            engine.database,
            corpus=folder.name,
            rounds=rounds,
            budget=budget,
            report=lambda at: progress(at.done, at.total, f"{at.stage} {at.note}", at.seconds_left),
        )
