"""`winnow check`: every gate, or those named; the exit code is the answer."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from winnow.catalog.engine_dir import EngineDir
from winnow.cli.console import print_json
from winnow.cli.options import DEFAULT_MANIFEST, DeviceOption, JsonOption, ManifestOption
from winnow.gates import exit_code, run_gates
from winnow.gates.verdict import Verdict


def command(
    gates: Annotated[list[str] | None, typer.Argument(metavar="[GATE]...", help="Gates to run [default: all].")] = None,
    manifest: ManifestOption = DEFAULT_MANIFEST,
    device: DeviceOption = "cpu",
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="Form of the answer.")] = "text",
    as_json: JsonOption = False,
) -> int:
    verdicts = run_gates(EngineDir(manifest), gates or [], device)
    if as_json or form == "json":
        print_json([verdict.as_dict() for verdict in verdicts])
    else:
        print_verdicts(verdicts)
    return exit_code(verdicts)


def print_verdicts(verdicts: list[Verdict]) -> None:
    """One line a gate, and its findings below it."""
    width = max(len(verdict.gate) for verdict in verdicts)
    for verdict in verdicts:
        print(f"  {verdict.gate.ljust(width)}  {verdict.state.ljust(10)}  {verdict.summary}")
        for finding in verdict.findings[:20]:
            where = "" if finding.place is None else f"  [{finding.place}]"
            print(f"    {finding.subject}: {finding.message}{where}")
        if len(verdict.findings) > 20:
            print(f"    … and {len(verdict.findings) - 20} more (--json shows all)")
