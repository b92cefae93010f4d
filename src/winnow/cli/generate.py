"""`winnow generate`: selection → descriptors; `--check` compares instead of writing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.check import print_verdicts
from winnow.cli.console import print_json
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.engine_dir import EngineDir
from winnow.gates.verdict import exit_code
from winnow.steps.generate import compare_draft, draft_catalog, write_draft


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    selection: Annotated[
        Path | None, typer.Option("--selection", help="The selection [default: selection.yaml beside the manifest].")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Directory of the descriptors [default: catalog beside the manifest].")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the committed files differ.")
    ] = False,
    live: Annotated[
        Path | None,
        typer.Option("--keep-ids", metavar="DIR", help="A catalog in use: its kernels stay, with their ids."),
    ] = None,
    allow_removal: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A kernel that may go (with --keep-ids).")
    ] = None,
    native: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the C++ hooks, their tests and build fragments too.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    draft = draft_catalog(
        EngineDir(manifest),
        selection=selection,
        output=output,
        keep_ids_of=live,
        allow_removal=allow_removal or (),
        manifest_named=manifest != DEFAULT_MANIFEST,
    )
    if draft.remark:
        print(f"winnow: {draft.remark}", file=sys.stderr)
    if check:
        verdict = compare_draft(draft)
        print_json(verdict.as_dict()) if as_json else print_verdicts([verdict])
        return exit_code([verdict])
    written = write_draft(draft, native=native)
    for name in written.left_out:
        print(f"winnow: {name} is left out: an earlier kernel is the same in all but its name", file=sys.stderr)
    if as_json:
        print_json(written.as_dict())
        return 0
    print(f"{written.catalog}: {written.kernels} kernels in {written.files} files")
    for allowed in written.allowed_past_budget:
        print(f"  allowed past the budget: {allowed}")
    if native is not None:
        print(f"{native}: {len(written.native)} files of native hooks")
    return 0
