"""A catalog as a tree of descriptor files: read with every reference resolved, written with stable bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from winnow.descriptors.documents import DOCUMENTS, Kdp, Kmd, Udd, Ued, Uhd, Ukd, Umd
from winnow.descriptors.reading import document_text, kind_of, parse_descriptor
from winnow.errors import InputError, Place
from winnow.files import Folder, Kind, text_of
from winnow.metadata import completed
from winnow.strict.document import Document
from winnow.strict.schema import StrictModel, validate

CATALOG = Kind("a catalog", tuple(f"*.{kind}.json" for kind in DOCUMENTS))
"""What a catalog's directory holds."""


@dataclass(frozen=True)
class Catalog:
    """Every descriptor of one engine, by the file that it stands in (paths relative to the tree's root)."""

    kmd: tuple[str, Kmd]
    ued: tuple[str, Ued]
    umds: tuple[tuple[str, Umd], ...]
    udds: tuple[tuple[str, Udd], ...]
    uhds: tuple[tuple[str, Uhd], ...]
    kdps: tuple[tuple[str, Kdp], ...]
    ukds: tuple[tuple[str, Ukd], ...] = ()
    """Kernels with a file of their own; the packs that list them refer to them by id."""

    def kernels(self) -> Iterator[tuple[Kdp, Ukd]]:
        """Each kernel with its pack, in the catalog's order, wherever its descriptor stands."""
        for _, kdp in self.kdps:
            for kernel in kdp.kernels:
                yield kdp, kernel

    def documents(self) -> Iterator[tuple[str, StrictModel]]:
        """(relative file name, document) of every file."""
        yield self.kmd
        yield self.ued
        for group in (self.umds, self.udds, self.uhds, self.kdps, self.ukds):
            yield from group

    def files(self) -> dict[str, str]:
        """Text of every file by relative name: the bytes that a committed catalog must have."""
        standalone = {kernel.id: name for name, kernel in self.ukds}
        return {name: document_text(document, standalone=standalone) for name, document in self.documents()}

    def completed_metadata(self, kernel: Ukd) -> dict[str, Any]:
        """The kernel's metadata with the declared defaults filled in, in the declared order."""
        return completed(self.kmd[1].fields, kernel.metadata)


@dataclass(frozen=True)
class Defect:
    """What does not hold together in a tree. `subject` is a kernel that it costs, else the descriptor."""

    subject: str
    message: str
    place: Place
    cure: str | None = None


@dataclass(frozen=True)
class Tree:
    """Every descriptor file below a directory, each sound in itself, by type; references may lead nowhere."""

    root: Path
    found: dict[str, list[tuple[str, Any]]]
    unresolved: list[Defect] = field(default_factory=list)
    """References of packs to kernels that no file describes."""

    def place(self, name: str, key: str | None = None) -> Place:
        """Where a file of the tree, or a key of it, stands."""
        return Place(str(self.root / name), key=key)

    def catalog(self) -> Catalog:
        """The tree as a catalog; only for a tree without defects."""
        return Catalog(
            kmd=self.found["kmd"][0],
            ued=self.found["ued"][0],
            umds=tuple(self.found["umd"]),
            udds=tuple(self.found["udd"]),
            uhds=tuple(self.found["uhd"]),
            kdps=tuple(self.found["kdp"]),
            ukds=tuple(self.found["ukd"]),
        )


def read_catalog(root: Path) -> Catalog:
    """Read the one engine whose descriptors lie below `root` (hidden files and folders are passed over).

    Raises:
        InputError: no descriptors, a malformed one, an id used twice, a reference to nothing, not exactly one engine.
    """
    return catalog_of(read_tree(root))


def catalog_of(tree: Tree) -> Catalog:
    """A tree that was read as the catalog that it is.

    Raises:
        InputError: an id used twice, a reference to nothing, not exactly one engine.
    """
    for defect in reference_defects(tree):
        raise InputError(defect.message, place=defect.place, cure=defect.cure)
    return tree.catalog()


def read_tree(root: Path) -> Tree:
    """Read every descriptor below `root`, inline kernels and those in files of their own alike.

    Raises:
        InputError: no such directory, or a file that is unreadable or not what its type is.
    """
    return tree_of(root, Folder(root))


def tree_of(root: Path, files: Mapping[str, bytes]) -> Tree:
    """`read_tree` for the files of `root`, by their names relative to it; only descriptors are looked at.

    Raises:
        InputError: no such directory, or a file that is unreadable or not what its type is.
    """
    if not root.is_dir():
        raise InputError("no such catalog directory", place=Place(str(root)), cure="run `winnow generate` first")
    loaded: dict[str, list[tuple[str, Document]]] = {kind: [] for kind in DOCUMENTS}
    for name in files:
        path, kind = root / name, kind_of(root / name)
        if kind is not None and not any(part.startswith(".") for part in PurePosixPath(name).parts):
            loaded[kind].append((name, parse_descriptor(text_of(files[name], path), path)))
    tree = Tree(root, {kind: [] for kind in DOCUMENTS})
    kernels: dict[str, Any] = {}
    for kind in ("ukd", *(kind for kind in DOCUMENTS if kind != "ukd")):
        for name, document in loaded[kind]:
            if kind == "kdp":
                document = _inlined(tree, name, document, kernels)
            tree.found[kind].append((name, validate(DOCUMENTS[kind], document)))
            if kind == "ukd":
                kernels[tree.found[kind][-1][1].id] = document.data
    return tree


def _inlined(tree: Tree, name: str, document: Document, kernels: dict[str, Any]) -> Document:
    """A pack with the kernels that it names by id put in their place."""
    listed = document.data.get("kernelDescriptors")
    if not isinstance(listed, list) or not any(isinstance(item, str) for item in listed):
        return document
    for i, item in enumerate(listed):
        if isinstance(item, str) and item not in kernels:
            key = f"kernelDescriptors[{i}]"
            tree.unresolved.append(
                Defect(item, f"{item} names no ukd of this catalog", tree.place(name, key), _REGENERATE)
            )
    resolved = [kernels.get(item) if isinstance(item, str) else item for item in listed]
    resolved = [item for item in resolved if item is not None]
    return Document(document.file, {**document.data, "kernelDescriptors": resolved}, document.lines)


_REGENERATE = "run `winnow generate` to write the catalog anew"


def reference_defects(tree: Tree) -> Iterator[Defect]:
    """Everything that keeps a tree from being one whole engine: counts, ids that clash, references to nothing."""
    root = Place(str(tree.root))
    for kind in ("ued", "kmd"):
        if len(tree.found[kind]) != 1:
            yield Defect(
                tree.root.name,
                f"{len(tree.found[kind])} .{kind}.json files, expected one",
                root,
                "a catalog directory holds one engine; regenerate it with `winnow generate`",
            )
    if not tree.found["kdp"]:
        yield Defect(tree.root.name, "no .kdp.json file", root, "run `winnow generate` first")
    yield from _clashes(tree)
    yield from tree.unresolved
    yield from _dangling(tree)


def _clashes(tree: Tree) -> Iterator[Defect]:
    own_files = {kernel.id: kernel for _, kernel in tree.found["ukd"]}
    files: dict[str, str] = {}
    for group in tree.found.values():
        for name, document in group:
            listed = getattr(document, "kernels", ())
            inline = [part for part in listed if part != own_files.get(part.id)]
            for part in (document, *inline):
                if part.id in files:
                    message = f"id {part.id} ({part.name}) is also used in {tree.root / files[part.id]}"
                    yield Defect(part.name, message, tree.place(name), "give each descriptor an id of its own")
                files.setdefault(part.id, name)
            seen: set[str] = set()
            for part in listed:
                if part.id in seen and part.id in own_files:
                    message = f"{part.name} ({part.id}) is listed twice"
                    yield Defect(part.name, message, tree.place(name), "list each kernel once")
                seen.add(part.id)


def _dangling(tree: Tree) -> Iterator[Defect]:
    known = {kind: {document.id for _, document in group} for kind, group in tree.found.items()}
    kernels = [kernel.name for _, kdp in tree.found["kdp"] for kernel in kdp.kernels]
    for name, subjects, key, kind, reference in (*_engine_references(tree, kernels), *_pack_references(tree)):
        if reference not in known[kind]:
            cost = f" ({len(subjects)} kernels depend on it)" if subjects else ""
            message = f"{reference} names no {kind} of this catalog{cost}"
            yield Defect(subjects[0] if subjects else name, message, tree.place(name, key), _REGENERATE)


_Reference = tuple[str, list[str], str, str, str]
"""(file, kernels that depend on it, key, type, id)"""


def _engine_references(tree: Tree, kernels: list[str]) -> Iterator[_Reference]:
    for name, ued in tree.found["ued"]:
        yield name, kernels, "metadata", "kmd", ued.metadata
        for key, reference in ued.heuristics:
            yield name, kernels, key, "uhd", reference


def _pack_references(tree: Tree) -> Iterator[_Reference]:
    for name, kdp in tree.found["kdp"]:
        members = [kernel.name for kernel in kdp.kernels]
        yield name, members, "engine", "ued", kdp.engine
        yield name, members, "dispatch", "udd", kdp.dispatch
        for i, matcher in enumerate(kdp.matchers):
            yield name, members, f"matchers[{i}]", "umd", matcher
