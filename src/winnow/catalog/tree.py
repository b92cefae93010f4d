"""A catalog as a tree of descriptor files: read with every reference resolved, written with stable bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.catalog.descriptors import DOCUMENTS, Kdp, Kmd, Udd, Ued, Uhd, Ukd, Umd
from winnow.errors import InputError, Place
from winnow.identity import pretty_json
from winnow.strict import StrictModel, load_json, validate


@dataclass(frozen=True)
class Catalog:
    """Every descriptor of one engine, by the file that it stands in (paths relative to the tree's root)."""

    kmd: tuple[str, Kmd]
    ued: tuple[str, Ued]
    umds: tuple[tuple[str, Umd], ...]
    udds: tuple[tuple[str, Udd], ...]
    uhds: tuple[tuple[str, Uhd], ...]
    kdps: tuple[tuple[str, Kdp], ...]

    def kernels(self) -> Iterator[tuple[Kdp, Ukd]]:
        """Each kernel with its pack, in the catalog's order."""
        for _, kdp in self.kdps:
            for kernel in kdp.kernels:
                yield kdp, kernel

    def documents(self) -> Iterator[tuple[str, StrictModel]]:
        """(relative file name, document) of every file."""
        yield self.kmd
        yield self.ued
        for group in (self.umds, self.udds, self.uhds, self.kdps):
            yield from group

    def files(self) -> dict[str, str]:
        """Text of every file by relative name: the bytes that a committed catalog must have."""
        return {name: document_text(document) for name, document in self.documents()}

    def completed_metadata(self, kernel: Ukd) -> dict[str, Any]:
        """The kernel's metadata with the declared defaults filled in, in the declared order."""
        return {field.name: kernel.metadata.get(field.name, field.default_value) for field in self.kmd[1].fields}


def document_text(document: StrictModel) -> str:
    """A descriptor's text: two-space JSON in the schema's key order; keys that are not set are left out."""
    return pretty_json(document.model_dump(by_alias=True, exclude_none=True))


def read_catalog(root: Path) -> Catalog:
    """Read the one engine whose descriptors lie below `root` (hidden files and folders are passed over).

    Raises:
        InputError: no descriptors, a malformed one, an id used twice, a reference to nothing, not exactly one engine.
    """
    if not root.is_dir():
        raise InputError("no such catalog directory", place=Place(str(root)), cure="run `winnow generate` first")
    found: dict[str, list[tuple[str, Any]]] = {kind: [] for kind in DOCUMENTS}
    places: dict[str, str] = {}
    for path in sorted(root.rglob("*.json")):
        name = path.relative_to(root).as_posix()
        kind = path.name.split(".")[-2]
        if any(part.startswith(".") for part in Path(name).parts) or kind not in DOCUMENTS:
            continue
        document = validate(DOCUMENTS[kind], load_json(path))
        _claim_ids(document, str(path), places)
        found[kind].append((name, document))
    for kind in ("ued", "kmd"):
        if len(found[kind]) != 1:
            raise InputError(
                f"{len(found[kind])} .{kind}.json files, expected one",
                place=Place(str(root)),
                cure="a catalog directory holds one engine; regenerate it with `winnow generate`",
            )
    if not found["kdp"]:
        raise InputError("no .kdp.json file", place=Place(str(root)), cure="run `winnow generate` first")
    catalog = Catalog(
        kmd=found["kmd"][0],
        ued=found["ued"][0],
        umds=tuple(found["umd"]),
        udds=tuple(found["udd"]),
        uhds=tuple(found["uhd"]),
        kdps=tuple(found["kdp"]),
    )
    _check_references(catalog, root)
    return catalog


def _claim_ids(document: Any, file: str, places: dict[str, str]) -> None:
    for part in (document, *getattr(document, "kernels", ())):
        if part.id in places:
            raise InputError(f"id {part.id} ({part.name}) is also used in {places[part.id]}", place=Place(file))
        places[part.id] = file


def _check_references(catalog: Catalog, root: Path) -> None:
    file, ued = catalog.ued
    kinds: dict[str, set[str]] = {
        "kmd": {catalog.kmd[1].id},
        "ued": {ued.id},
        "umd": {document.id for _, document in catalog.umds},
        "udd": {document.id for _, document in catalog.udds},
        "uhd": {document.id for _, document in catalog.uhds},
    }
    wanted = [(file, "metadata", "kmd", ued.metadata)]
    wanted += [(file, f"sort_kernel_catalog.{arch}", "uhd", i) for arch, i in (ued.sort_kernel_catalog or {}).items()]
    for name, kdp in catalog.kdps:
        wanted += [(name, "engine", "ued", kdp.engine), (name, "dispatch", "udd", kdp.dispatch)]
        wanted += [(name, f"matchers[{i}]", "umd", matcher) for i, matcher in enumerate(kdp.matchers)]
    for name, key, kind, reference in wanted:
        if reference not in kinds[kind]:
            raise InputError(
                f"{reference} names no {kind} of this catalog",
                place=Place(str(root / name), key=key),
                cure="run `winnow generate` to write the catalog anew",
            )
