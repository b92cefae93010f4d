"""`winnow pack`: descriptors → one shard an architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import Progress, print_json, seconds
from winnow.cli.options import ARCHES, DEFAULT_MANIFEST, JobsOption, JsonOption, ManifestOption, of_group
from winnow.engine_dir import EngineDir
from winnow.steps.pack import pack_engine
from winnow.wording import amount


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    arches: Annotated[
        list[str] | None,
        typer.Option(
            "--arch", help="Devices to pack for [default: all that the catalog names].", autocompletion=ARCHES
        ),
    ] = None,
    catalog: Annotated[
        Path | None, typer.Option("--catalog", help="Descriptors [default: catalog beside the manifest].")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Packed tree [default: build/archive beside the manifest].")
    ] = None,
    jobs: JobsOption = None,
    executor: Annotated[
        str, typer.Option(help="Where kernels are compiled.", autocompletion=of_group("winnow.executors"))
    ] = "local",
    as_json: JsonOption = False,
) -> int:
    with Progress("pack") as progress:
        reports = pack_engine(
            EngineDir(manifest),
            arches=arches or (),
            catalog=catalog,
            output=output,
            jobs=jobs,
            executor=executor,
            progress=progress,
        )
    if as_json:
        print_json([report.as_dict() for report in reports])
    for report in () if as_json else reports:
        print(
            f"{report.path}: {amount(report.kernels, 'kernels')}, {amount(report.objects, 'objects')} "
            f"({report.built} compiled, {report.alike} alike, {report.cached} from the cache), "
            f"{report.archive_bytes:,} bytes, {seconds(report.seconds)}"
            + (f", slowest {report.slowest_s:.1f} s of {report.limit_s:.0f} s allowed" if report.built else "")
        )
    return 0
