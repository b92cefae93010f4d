"""`winnow report`: one HTML file that shows an engine's counts, decisions and gates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import Progress, print_json
from winnow.cli.options import DEFAULT_MANIFEST, DeviceOption, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.steps.report import report_engine


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    device: DeviceOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="The page [default: build/report.html beside the manifest].")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    with Progress("report") as progress:
        reported = report_engine(EngineDir(manifest), device=device, output=output, progress=progress)
    if as_json:
        print_json(reported.as_dict())
    else:
        print(f"{reported.page}: {reported.bytes:,} bytes")
        for verdict in reported.checked.verdicts:
            if verdict.state != "passed":
                print(f"  {verdict.gate} {verdict.state}: {verdict.summary}")
    return reported.checked.exit_code
