"""The whole loop in one directory: from the registry to a reduced, verified catalog and its report."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from winnow.descriptors.tree import read_catalog
from winnow.devices.find import open_device, runtime_for
from winnow.engine_dir import EngineDir
from winnow.engines import copy_engine
from winnow.files import write_atomic
from winnow.report.summary import Summary
from winnow.selection.enumerate import enumerate_variants
from winnow.selection.plan import plan_space
from winnow.steps.check import Checked, check_engine
from winnow.steps.enumerate import selection_of
from winnow.steps.generate import write_catalog
from winnow.steps.pack import pack_catalog
from winnow.steps.progress import Progress, silent
from winnow.steps.reduce import reduce_engine
from winnow.steps.report import write_page
from winnow.steps.sweep import sweep_engine
from winnow.wording import amount

T = TypeVar("T")

Watch = Callable[[str], AbstractContextManager[Progress]]
"""Stage → a context in which its progress is watched."""
Told = Callable[[str, str, float], None]
"""(stage, what it did, seconds), after each stage."""


def unwatched(stage: str) -> AbstractContextManager[Progress]:
    """A stage's progress that nobody watches."""
    return nullcontext(silent)


def untold(stage: str, what: str, seconds: float) -> None:
    """A stage's end that nobody hears of."""


@dataclass(frozen=True)
class Demonstrated:
    """What the loop came to. `files` were copied, `seconds` says how long each stage took."""

    engine: str
    arch: str
    files: int
    seconds: dict[str, float]
    summary: Summary
    checked: Checked
    page: Path

    @property
    def exit_code(self) -> int:
        """That of the gates, or 1 where the reduction falls short."""
        return self.checked.exit_code or int(self.summary.result.refused)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **self.summary.as_dict(),
            "files": self.files,
            "stages": self.seconds,
            "report": str(self.page),
        }


def demonstrate(
    directory: Path,
    engine_name: str,
    *,
    device: str | None = None,
    jobs: int | None = None,
    budget: float | None = None,
    watch: Watch = unwatched,
    told: Told = untold,
) -> Demonstrated:
    """Run the loop of a built-in engine in `directory`; after `budget` seconds the sweep starts no new round.

    Raises:
        InputError: no such engine, the directory holds something else, or what any step raises.
    """
    stages = _Stages(watch, told)
    copied = stages.run(
        "init", lambda _: copy_engine(engine_name, directory), lambda n: f"{amount(n, 'files')} of {engine_name}"
    )
    engine = EngineDir(directory / "engine.yaml")
    manifest = engine.manifest.manifest
    device = device or runtime_for(manifest.enumerate.candidates.arch)
    with open_device(device, timeout_s=manifest.sweep.timeout_seconds) as runtime:
        arch = runtime.arch
    stages.run("count", lambda _: plan_space(engine.manifest), lambda p: amount(p.total, "legal variants"))
    enumeration = stages.run(
        "enumerate",
        lambda _: enumerate_variants(engine.manifest),
        lambda e: ", ".join(f"{count} {outcome}" for outcome, count in e.counts().items()),
    )
    write_atomic(engine.selection_file, selection_of(engine.manifest, enumeration))
    stages.run(
        "generate",
        lambda _: write_catalog(manifest, engine.selection, engine.catalog, engine.kept_ids),
        lambda written: f"{amount(written[1], 'kernels')} in {amount(written[0], 'descriptor files')}",
    )
    (packed,) = stages.run(
        "pack",
        lambda progress: pack_catalog(
            engine, read_catalog(engine.catalog), [arch], engine.archive, jobs, progress=progress
        ),
        lambda r: f"{amount(r[0].kernels, 'variants')} for {arch}, {r[0].built} compiled, {r[0].cached} from the cache",
    )
    stages.run(
        "sweep",
        lambda progress: sweep_engine(engine, device=device, budget=budget, progress=progress),
        lambda s: f"{s.ledger.counts['served']} pairs of graph and kernel served, {amount(s.rounds, 'rounds')}",
    )
    stages.run("reduce", lambda _: reduce_engine(engine), lambda r: f"{len(r.kept)} of {packed.kernels} variants kept")
    reduced = engine.reduced
    stages.run(
        "repack",
        lambda progress: pack_catalog(
            engine, read_catalog(reduced / "catalog"), [arch], reduced / "archive", jobs, progress=progress
        ),
        lambda r: f"{amount(r[0].kernels, 'variants')}, {r[0].cached} from the cache",
    )
    checked = stages.run(
        "check",
        lambda progress: check_engine(engine, device=device, progress=progress),
        lambda c: f"{sum(v.state == 'passed' for v in c.verdicts)} of {len(c.verdicts)} gates passed",
    )
    summary, page, _ = stages.run(
        "report", lambda _: write_page(engine, checked.verdicts), lambda made: f"{made[2]:,} bytes"
    )
    return Demonstrated(engine_name, arch, copied, stages.seconds, summary, checked, page)


@dataclass(frozen=True)
class _Stages:
    """Runs stages one after another, and says of each what it did and how long it took."""

    watch: Watch
    told: Told
    seconds: dict[str, float] = field(default_factory=dict)

    def run(self, name: str, work: Callable[[Progress], T], shown: Callable[[T], str]) -> T:
        began = time.monotonic()
        with self.watch(name) as progress:
            value = work(progress)
        self.seconds[name] = round(time.monotonic() - began, 2)
        self.told(name, shown(value), self.seconds[name])
        return value
