"""Descriptors → one shard an architecture, with the engine's cache and limits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from winnow.descriptors.tree import Catalog, read_catalog
from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Place
from winnow.pack.cache import ObjectCache
from winnow.pack.executor import LOCAL_NAME, find_executor
from winnow.pack.shard import ShardReport, pack_arches
from winnow.steps.approval import check_approval
from winnow.steps.progress import Progress, silent
from winnow.targets.arches import arch_facts
from winnow.targets.generics import GENERICS
from winnow.workers.pool import default_jobs


def pack_engine(
    engine: EngineDir,
    *,
    arches: Sequence[str] = (),
    catalog: Path | None = None,
    output: Path | None = None,
    jobs: int | None = None,
    executor: str = LOCAL_NAME,
    progress: Progress = silent,
) -> tuple[ShardReport, ...]:
    """Pack the engine's catalog (or the one at `catalog`) for these arches, by default all that it names.

    `jobs` is how many kernels are compiled at a time; by default what processors and memory allow. `executor` names
    where they are compiled.

    Raises:
        InputError: no catalog, an unknown arch, a kernel that cannot be built, a missing compiler.
        Refused: over the budget or not what was approved, a kernel that its builder or its target refuses.
    """
    source = read_catalog(catalog or engine.catalog)
    for arch in arches:
        arch_facts(arch)
    check_approval(engine, [source])
    target = output or engine.archive
    return pack_catalog(
        engine, source, arches or devices_of(source), target, jobs, executor=executor, progress=progress
    )


def pack_catalog(
    engine: EngineDir,
    catalog: Catalog,
    arches: Sequence[str],
    target: Path,
    jobs: int | None = None,
    *,
    executor: str = LOCAL_NAME,
    progress: Progress = silent,
) -> tuple[ShardReport, ...]:
    """Pack a catalog with the engine's cache and limits, whatever was approved."""
    return pack_arches(
        catalog,
        arches,
        target,
        allowed=engine.manifest.manifest.allowed_modules,
        jobs=default_jobs() if jobs is None else jobs,
        cache=ObjectCache(engine.cache / "objects"),
        limits=engine.manifest.manifest.pack.stated,
        executor=find_executor(executor),
        progress=lambda stage, done, total: progress(done, total, stage),
    )


def devices_of(catalog: Catalog) -> list[str]:
    """Every device that some kernel of the catalog names, by itself or through a generic target.

    Raises:
        InputError: no kernel names any.
    """
    named: dict[str, None] = {}
    for kdp, kernel in catalog.kernels():
        for arch in kdp.arch_of(kernel):
            named |= dict.fromkeys(GENERICS.get(arch, (arch,)))
    if not named:
        raise InputError(
            "no kernel names an arch", place=Place(catalog.kdps[0][0]), cure="say which devices to pack for: --arch"
        )
    return list(named)
