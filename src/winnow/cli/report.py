"""`winnow report`: one HTML file that shows an engine's counts, decisions and gates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json
from winnow.cli.options import DEFAULT_MANIFEST, DeviceOption, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.gates import exit_code, run_gates
from winnow.report.gather import gather
from winnow.report.page import write_report


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    device: DeviceOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="The page [default: build/report.html beside the manifest].")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    verdicts = run_gates(engine, [], device)
    summary = gather(engine, verdicts)
    target = output or engine.build / "report.html"
    size = write_report(summary, target)
    if as_json:
        print_json({**summary.as_dict(), "report": str(target)})
    else:
        print(f"{target}: {size:,} bytes")
    return exit_code(verdicts)
