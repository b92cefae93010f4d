"""Descriptors → one shard an architecture, with the engine's cache and limits."""

from __future__ import annotations

from pathlib import Path

from winnow.cli.console import Progress
from winnow.descriptors.tree import Catalog
from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Place
from winnow.pack.cache import ObjectCache
from winnow.pack.pool import default_jobs
from winnow.pack.shard import ShardReport, pack_arches
from winnow.targets.generics import GENERICS


def pack_engine(
    engine: EngineDir, catalog: Catalog, arches: list[str], target: Path, jobs: int | None
) -> tuple[ShardReport, ...]:
    """Pack a catalog's shards with the engine's cache, showing progress."""
    progress = Progress("pack")
    try:
        return pack_arches(
            catalog,
            arches,
            target,
            allowed=engine.manifest.manifest.allowed_modules,
            jobs=jobs or default_jobs(),
            cache=ObjectCache(engine.cache / "objects"),
            limits=engine.manifest.manifest.pack.stated,
            progress=lambda stage, done, total: progress(done, total, stage),
        )
    finally:
        progress.finish()


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
