"""Selection → the files of a catalog."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from winnow.cli.options import DEFAULT_MANIFEST
from winnow.descriptors.generate import generate
from winnow.descriptors.ids import FRESH, KeptIds, keep_ids, read_kept_ids
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Place
from winnow.files import MOMENT_S, Lock, locked, staged_tree, write_atomic
from winnow.selection.document import LoadedSelection, load_selection
from winnow.selection.expand import expand
from winnow.selection.kernel import Kernel
from winnow.settings.header import Header
from winnow.settings.manifest import LoadedManifest, Manifest


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

    def kept_now(self) -> KeptIds:
        """The ids to keep, read anew where a writer that came first may have changed their file."""
        if self.live is not None or self.kept_file is None:
            return self.kept
        return read_kept_ids(self.kept_file, self.header.engine.name)


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
    with locked(target, wait_s=MOMENT_S) as lock:
        return _write(catalog, lock), len(kernels) - len(_left_out(kernels, catalog))


def _write(catalog: Catalog, lock: Lock) -> int:
    files = catalog.files()
    with staged_tree(lock) as staging:
        for name, text in files.items():
            write_atomic(staging / name, text)
    return len(files)


def _left_out(kernels: Sequence[Kernel], catalog: Catalog) -> list[str]:
    written = {kernel.name for _, kernel in catalog.kernels()}
    return [kernel.name for kernel in kernels if kernel.name not in written]
