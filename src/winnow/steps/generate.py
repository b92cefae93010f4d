"""Selection → the files of a catalog, and the native hooks that they name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from winnow.descriptors.generate import generate
from winnow.descriptors.ids import FRESH, KeptIds, check_addition, keep_ids, kept_text, read_kept_ids
from winnow.descriptors.native import native_files
from winnow.descriptors.tree import CATALOG, Catalog, read_catalog
from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Place
from winnow.files import MOMENT_S, Folder, Lock, locked, staged_tree, write_atomic
from winnow.gates.checks import regeneration
from winnow.gates.verdict import Verdict, judged
from winnow.selection.budget import within_budget
from winnow.selection.document import LoadedSelection, load_selection
from winnow.selection.expand import expand
from winnow.selection.kernel import Kernel
from winnow.settings.header import Header
from winnow.settings.manifest import LoadedManifest, Manifest


@dataclass(frozen=True)
class Draft:
    """A catalog that is not written yet, and where it goes.

    `manifest` is None where the selection's own header suffices. `live` is the catalog in use whose ids stay,
    `kept_file` where they are remembered. `remark` is what a caller may want to know of how the manifest was chosen.
    """

    header: Header
    manifest: LoadedManifest | None
    target: Path
    kernels: tuple[Kernel, ...]
    allowed: tuple[str, ...]
    catalog: Catalog
    kept: KeptIds
    live: Catalog | None
    kept_file: Path | None
    remark: str = ""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Kernels that repeat an earlier one in everything but their names."""
        written = {kernel.name for _, kernel in self.catalog.kernels()}
        return tuple(kernel.name for kernel in self.kernels if kernel.name not in written)


@dataclass(frozen=True)
class Generated:
    """A catalog that was written: its directory, and how many files and kernels are in it."""

    catalog: Path
    files: int
    kernels: int
    left_out: tuple[str, ...]
    allowed_past_budget: tuple[str, ...]
    native: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "catalog": str(self.catalog),
            "files": self.files,
            "kernels": self.kernels,
            "left_out": list(self.left_out),
            "allowed_past_budget": list(self.allowed_past_budget),
            "native": list(self.native),
        }


def draft_catalog(
    engine: EngineDir,
    *,
    selection: Path | None = None,
    output: Path | None = None,
    keep_ids_of: Path | None = None,
    allow_removal: Collection[str] = (),
    manifest_named: bool = True,
) -> Draft:
    """The catalog of a selection, by default the one beside the manifest.

    `keep_ids_of` is a catalog in use: its kernels stay, with their ids, but for those in `allow_removal`. Where nobody
    named the manifest (`manifest_named`), a selection of another engine is generated without it.

    Raises:
        InputError: unreadable or malformed input, or a selection that is another engine's than the manifest.
        Refused: over the budget, a kernel of the catalog in use is gone, or two kernels that no loader tells apart.
    """
    live = None if keep_ids_of is None else read_catalog(keep_ids_of)
    header, loaded, chosen, remark = _sources(engine, selection, output, manifest_named)
    kernels = expand(chosen)
    allowed = [] if loaded is None else within_budget(loaded, kernels)
    kept = keep_ids(live) if live is not None else FRESH if loaded is None else engine.kept_ids
    catalog = generate(header, kernels, kept)
    if live is not None:
        check_addition(live, catalog, allow_removal, Place(str(keep_ids_of)))
    elif allow_removal:
        raise InputError("--allow-removal says what of a live catalog may go", cure="name the catalog with --keep-ids")
    return Draft(
        header=header,
        manifest=loaded,
        target=output or engine.catalog,
        kernels=kernels,
        allowed=tuple(map(str, allowed)),
        catalog=catalog,
        kept=kept,
        live=live,
        kept_file=engine.kept_ids_file if output is None and loaded is not None else None,
        remark=remark,
    )


def _sources(
    engine: EngineDir, selection: Path | None, output: Path | None, manifest_named: bool
) -> tuple[Header, LoadedManifest | None, LoadedSelection, str]:
    """The header, the manifest if one has a say, the selection, and a remark."""
    file = engine.manifest_file
    loaded = None if selection is None else load_selection(selection)
    if loaded is not None and not manifest_named and not file.is_file():
        if output is None:
            raise InputError(
                "no manifest beside the selection says where its catalog is",
                place=Place(str(selection)),
                cure="name the directory with -o, or the manifest with -m",
            )
        return loaded.selection.header(), None, loaded, ""
    chosen = loaded or engine.selection
    names = engine.manifest.manifest.engine.name, chosen.selection.engine.name
    if names[0] == names[1]:
        return engine.manifest.manifest, engine.manifest, chosen, ""
    if not manifest_named and output is not None:
        remark = f'{file} is for "{names[0]}", so "{names[1]}" is generated without it'
        return chosen.selection.header(), None, chosen, remark
    raise InputError(
        f'is for "{names[1]}", the manifest {file} for "{names[0]}"',
        place=chosen.document.place("engine", "name"),
        cure="name the engine's own manifest with -m, or a directory of its own with -o",
    )


def write_draft(draft: Draft, *, native: Path | None = None) -> Generated:
    """Replace the catalog at the draft's target, whole; write the native hooks below `native` where that is named.

    Hooks are replaced one by one, as their directory may hold other files.

    Raises:
        InputError: another process writes the target, and does not end in a moment; or the target holds something
            other than a catalog, which is then left as it is.
    """
    with locked(draft.target, CATALOG, wait_s=MOMENT_S) as lock:
        draft = _with_ids_of_now(draft)
        if draft.live is not None and draft.kept_file is not None:
            kept = kept_text(draft.header.engine.name, draft.catalog)
            write_atomic(draft.kept_file, kept) if kept else draft.kept_file.unlink(missing_ok=True)
        files = _write_files(draft.catalog, lock)
        hooks = {} if native is None else native_files(draft.header, draft.catalog)
        for name, text in hooks.items():
            write_atomic((native or Path()) / name, text)
    return Generated(
        catalog=draft.target,
        files=files,
        kernels=len(draft.kernels) - len(draft.left_out),
        left_out=draft.left_out,
        allowed_past_budget=draft.allowed,
        native=tuple(sorted(hooks)),
    )


def _with_ids_of_now(draft: Draft) -> Draft:
    """The draft with the ids to keep that a writer which came first has left."""
    if draft.live is not None or draft.kept_file is None:
        return draft
    kept = read_kept_ids(draft.kept_file, draft.header.engine.name)
    return draft if kept == draft.kept else replace(draft, catalog=generate(draft.header, draft.kernels, kept))


def compare_draft(draft: Draft) -> Verdict:
    """Whether the committed files are what the selection generates, as gate `regeneration` says it."""
    files = draft.catalog.files()
    return judged("regeneration", f"{len(files)} files", regeneration.differences(files, Folder(draft.target)))


def write_catalog(
    manifest: Manifest, selection: LoadedSelection, target: Path, kept: KeptIds = FRESH
) -> tuple[int, int]:
    """Replace the catalog at `target` by what the selection generates; (files, kernels) written."""
    catalog = generate(manifest, expand(selection), kept)
    with locked(target, CATALOG, wait_s=MOMENT_S) as lock:
        return _write_files(catalog, lock), sum(1 for _ in catalog.kernels())


def _write_files(catalog: Catalog, lock: Lock) -> int:
    files = catalog.files()
    with staged_tree(lock) as staging:
        for name, text in files.items():
            write_atomic(staging / name, text)
    return len(files)
