"""`winnow generate`: selection → descriptors; `--check` compares instead of writing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.expand import expand
from winnow.catalog.generate import generate
from winnow.catalog.manifest import Manifest
from winnow.catalog.selection import LoadedSelection
from winnow.cli.check import print_verdicts
from winnow.cli.console import print_json
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.files import staged_directory, write_atomic
from winnow.gates import regeneration
from winnow.gates.verdict import exit_code, judged


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    output: Annotated[
        Path | None, typer.Option("-o", help="Directory of the descriptors [default: catalog beside the manifest].")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the committed files differ.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    target = output or engine.catalog
    if check:
        kernels = expand(engine.selection)
        files = generate(engine.manifest.manifest, kernels).files()
        verdict = judged("regeneration", f"{len(files)} files", regeneration.differences(files, target))
        print_json(verdict.as_dict()) if as_json else print_verdicts([verdict])
        return exit_code([verdict])
    files_written, kernels_written = write_catalog(engine.manifest.manifest, engine.selection, target)
    if as_json:
        print_json({"catalog": str(target), "files": files_written, "kernels": kernels_written})
    else:
        print(f"{target}: {kernels_written} kernels in {files_written} files")
    return 0


def write_catalog(manifest: Manifest, selection: LoadedSelection, target: Path) -> tuple[int, int]:
    """Replace the catalog at `target` by what the selection generates; (files, kernels) written."""
    kernels = expand(selection)
    files = generate(manifest, kernels).files()
    with staged_directory(target) as staging:
        for name, text in files.items():
            write_atomic(staging / name, text)
    return len(files), len(kernels)
