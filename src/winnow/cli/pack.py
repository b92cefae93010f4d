"""`winnow pack`: descriptors → one shard an architecture."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json, seconds
from winnow.cli.options import DEFAULT_MANIFEST, JobsOption, JsonOption, ManifestOption
from winnow.descriptors.tree import read_catalog
from winnow.engine_dir import EngineDir
from winnow.steps.approval import check_approval
from winnow.steps.pack import devices_of, pack_engine
from winnow.targets.arches import arch_facts
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
