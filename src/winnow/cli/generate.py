"""`winnow generate`: selection → descriptors; `--check` compares instead of writing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.check import print_verdicts
from winnow.cli.console import print_json
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.descriptors.generate import generate
from winnow.descriptors.ids import check_addition, kept_text
from winnow.descriptors.native import native_files
from winnow.errors import InputError, Place
from winnow.files import MOMENT_S, locked, write_atomic
from winnow.gates import regeneration
from winnow.gates.verdict import exit_code, judged
from winnow.selection.budget import within_budget
from winnow.selection.expand import expand
from winnow.steps.generate import _job, _left_out, _write


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
    job = _job(manifest, selection, output, live)
    kernels = expand(job.selection)
    allowed = [] if job.manifest is None else within_budget(job.manifest, kernels)
    catalog = generate(job.header, kernels, job.kept)
    if job.live is not None:
        check_addition(job.live, catalog, allow_removal or [], Place(str(live)))
    elif allow_removal:
        raise InputError("--allow-removal says what of a live catalog may go", cure="name the catalog with --keep-ids")
    if check:
        files = catalog.files()
        verdict = judged("regeneration", f"{len(files)} files", regeneration.differences(files, job.target))
        print_json(verdict.as_dict()) if as_json else print_verdicts([verdict])
        return exit_code([verdict])
    with locked(job.target, wait_s=MOMENT_S) as lock:
        kept_now = job.kept_now()
        if kept_now != job.kept:
            catalog = generate(job.header, kernels, kept_now)
        if job.live is not None and job.kept_file is not None:
            kept = kept_text(job.header.engine.name, catalog)
            write_atomic(job.kept_file, kept) if kept else job.kept_file.unlink(missing_ok=True)
        files_written = _write(catalog, lock)
        hooks = {} if native is None else native_files(job.header, catalog)
        for name, text in hooks.items():
            write_atomic((native or Path()) / name, text)
    left_out = _left_out(kernels, catalog)
    kernels_written = len(kernels) - len(left_out)
    for name in left_out:
        print(f"winnow: {name} is left out: an earlier kernel is the same in all but its name", file=sys.stderr)
    if as_json:
        print_json(
            {
                "catalog": str(job.target),
                "files": files_written,
                "kernels": kernels_written,
                "left_out": left_out,
                "allowed_past_budget": [str(one) for one in allowed],
                "native": sorted(hooks),
            }
        )
    else:
        print(f"{job.target}: {kernels_written} kernels in {files_written} files")
        for one in allowed:
            print(f"  allowed past the budget: {one}")
        if native is not None:
            print(f"{native}: {len(hooks)} files of native hooks")
    return 0
