"""`winnow generate`: selection → descriptors; `--check` compares instead of writing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from winnow.catalog.budget import within_budget
from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.expand import Kernel, expand
from winnow.catalog.generate import generate
from winnow.catalog.header import Header
from winnow.catalog.manifest import LoadedManifest, Manifest
from winnow.catalog.minting import FRESH, KeptIds, check_addition, keep_ids, kept_text
from winnow.catalog.native import native_files
from winnow.catalog.selection import LoadedSelection, load_selection
from winnow.catalog.tree import Catalog, read_catalog
from winnow.cli.check import print_verdicts
from winnow.cli.console import print_json
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.errors import InputError, Place
from winnow.files import staged_directory, write_atomic
from winnow.gates import regeneration
from winnow.gates.verdict import exit_code, judged


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
    if job.live is not None and job.kept_file is not None:
        kept = kept_text(job.header.engine.name, catalog)
        write_atomic(job.kept_file, kept) if kept else job.kept_file.unlink(missing_ok=True)
    files_written = _write(catalog, job.target)
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


@dataclass(frozen=True)
class _Job:
    """What is generated from what, and where to. `kept_file` is where kept ids are remembered."""

    header: Header
    manifest: LoadedManifest | None
    selection: LoadedSelection
    target: Path
    kept: KeptIds
    live: Catalog | None
    kept_file: Path | None


def _job(manifest: Path, selection: Path | None, output: Path | None, live: Path | None) -> _Job:
    in_use = None if live is None else read_catalog(live)
    kept = FRESH if in_use is None else keep_ids(in_use)
    loaded = None if selection is None else load_selection(selection)
    nobody_named_it = manifest == DEFAULT_MANIFEST
    if loaded is not None and nobody_named_it and not manifest.is_file():
        if output is None:
            raise InputError(
                "no manifest beside the selection says where its catalog is",
                place=Place(str(selection)),
                cure="name the directory with -o, or the manifest with -m",
            )
        return _alone(loaded, output, kept, in_use)
    engine = EngineDir(manifest)
    chosen = loaded or engine.selection
    names = engine.manifest.manifest.engine.name, chosen.selection.engine.name
    if names[0] != names[1] and nobody_named_it and output is not None:
        print(f'winnow: {manifest} is for "{names[0]}", so "{names[1]}" is generated without it', file=sys.stderr)
        return _alone(chosen, output, kept, in_use)
    if names[0] != names[1]:
        raise InputError(
            f'is for "{names[1]}", the manifest {manifest} for "{names[0]}"',
            place=chosen.document.place("engine", "name"),
            cure="name the engine's own manifest with -m, or a directory of its own with -o",
        )
    return _Job(
        header=engine.manifest.manifest,
        manifest=engine.manifest,
        selection=chosen,
        target=output or engine.catalog,
        kept=engine.kept_ids if in_use is None else kept,
        live=in_use,
        kept_file=engine.kept_ids_file if output is None else None,
    )


def _alone(selection: LoadedSelection, output: Path, kept: KeptIds, in_use: Catalog | None) -> _Job:
    """A selection whose own header suffices: no manifest is asked."""
    return _Job(selection.selection.header(), None, selection, output, kept, in_use, None)


def write_catalog(
    manifest: Manifest, selection: LoadedSelection, target: Path, kept: KeptIds = FRESH
) -> tuple[int, int]:
    """Replace the catalog at `target` by what the selection generates; (files, kernels) written."""
    kernels = expand(selection)
    catalog = generate(manifest, kernels, kept)
    return _write(catalog, target), len(kernels) - len(_left_out(kernels, catalog))


def _write(catalog: Catalog, target: Path) -> int:
    files = catalog.files()
    with staged_directory(target) as staging:
        for name, text in files.items():
            write_atomic(staging / name, text)
    return len(files)


def _left_out(kernels: Sequence[Kernel], catalog: Catalog) -> list[str]:
    written = {kernel.name for _, kernel in catalog.kernels()}
    return [kernel.name for kernel in kernels if kernel.name not in written]
