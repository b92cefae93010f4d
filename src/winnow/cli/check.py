"""`winnow check`: every gate, or those named; the exit code is the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from winnow.cli.console import Progress, print_json
from winnow.cli.options import DEFAULT_MANIFEST, DeviceOption, JsonOption, ManifestOption, completing
from winnow.engine_dir import EngineDir
from winnow.gates.find import all_gates
from winnow.gates.verdict import Verdict
from winnow.report.verdicts import FORMS
from winnow.settings.manifest import manifest_schema
from winnow.steps.check import check_engine


def command(
    gates: Annotated[
        list[str] | None,
        typer.Argument(metavar="[GATE]...", help="Gates to run [default: all].", autocompletion=completing(all_gates)),
    ] = None,
    manifest: ManifestOption = DEFAULT_MANIFEST,
    device: DeviceOption = None,
    form: Annotated[
        Literal["text", "json", "junit", "github"], typer.Option("--format", help="Form of the answer.")
    ] = "text",
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the manifest's JSON Schema, and check nothing.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Judge every kernel, also in gates that judge a sample.")
    ] = False,
    mode: Annotated[
        Literal["full", "structural"], typer.Option(help="Gate agreement: compare records, or only look for them.")
    ] = "full",
    as_json: JsonOption = False,
) -> int:
    if schema:
        print_json(manifest_schema())
        return 0
    with Progress("check") as progress:
        checked = check_engine(
            EngineDir(manifest), gates or (), device=device, everything=everything, mode=mode, progress=progress
        )
    print(FORMS["json" if as_json else form](checked.verdicts))
    return checked.exit_code


def print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """One line a gate, and its findings below it."""
    print(FORMS["text"](verdicts))
