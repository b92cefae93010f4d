"""`winnow pack`: descriptors → one shard an architecture."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.tree import Catalog, read_catalog
from winnow.cli.approval import check_approval
from winnow.cli.console import Progress, print_json, seconds
from winnow.cli.options import DEFAULT_MANIFEST, JobsOption, JsonOption, ManifestOption
from winnow.errors import InputError, Place
from winnow.pack.cache import ObjectCache
from winnow.pack.pool import default_jobs
from winnow.pack.shard import ShardReport, pack_arches
from winnow.targets.arches import arch_facts
from winnow.targets.generics import GENERICS
from winnow.wording import amount


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    arches: Annotated[
        list[str] | None, typer.Option("--arch", help="Devices to pack for [default: all that the catalog names].")
    ] = None,
    catalog: Annotated[
        Path | None, typer.Option("--catalog", help="Descriptors [default: catalog beside the manifest].")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Packed tree [default: build/archive beside the manifest].")
    ] = None,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    source = read_catalog(catalog or engine.catalog)
    for arch in arches or ():
        arch_facts(arch)
    check_approval(engine, [source])
    reports = pack_engine(engine, source, arches or devices_of(source), output or engine.archive, jobs)
    if as_json:
        print_json(
            [{**asdict(report), "path": str(report.path), "targets": dict(report.targets)} for report in reports]
        )
    for report in () if as_json else reports:
        print(
            f"{report.path}: {amount(report.kernels, 'kernels')}, {amount(report.objects, 'objects')} "
            f"({report.built} compiled, {report.alike} alike, {report.cached} from the cache), "
            f"{report.archive_bytes:,} bytes, {seconds(report.seconds)}"
            + (f", slowest {report.slowest_s:.1f} s of {report.limit_s:.0f} s allowed" if report.built else "")
        )
    return 0


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
