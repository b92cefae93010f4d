"""The descriptors of a packed tree as plain values: its engine, its metadata fields and its kernels, read by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from winnow.archive.descriptor_files import REPACK, Descriptors, check_version, load_descriptors
from winnow.errors import InputError, Place
from winnow.metadata import FieldType, completed
from winnow.strict.record import Record

_HEAD = ("version", "id", "name")
_KMD_KEYS = (*_HEAD, "fields")
_FIELD_KEYS = ("name", "type", "default_value")
_ROLES = ("sort_kernel_catalog", "predict_engine", "predict_applicable_kernels")
_UED_KEYS = (
    *_HEAD,
    *("revision", "sdk_version", "graph_match", "metadata", "heuristic", *_ROLES, "knobs"),
    *("behavior_notes", "numerical_notes", "provenance"),
)
_KDP_KEYS = (*_HEAD, "matchers", "engine", "dispatch", "provenance", "kernelDescriptors", "arch")
_UKD_KEYS = (*_HEAD, "kernel_source", "metadata", "priority", "arch", "provenance")
_SOURCE_KEYS = ("kind", "library", "toc_key", "symbol", "sha256", "signature")
_ARGUMENT_KEYS = ("kind", "size", "offset", "name")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_VALUE = "a truth value, a number, a string or a list of integers"

StatedArgument = tuple[str, int, int, str]
"""(kind, bytes, offset, name; empty where none is stated)"""


@dataclass(frozen=True)
class EngineRecord:
    """An engine. `extension` is what it states for Winnow's own runtime under `x-winnow`; `file` is in the tree."""

    id: str
    name: str
    ranked: bool
    extension: Mapping[str, Any] | None
    file: str


@dataclass(frozen=True)
class MetadataField:
    """A declared metadata field. Without a default every kernel states it."""

    name: str
    type: FieldType
    default_value: Any


@dataclass(frozen=True)
class ObjectSource:
    """Where a kernel's object lies, and what it must be. `library` is relative to the pack's file."""

    library: str
    toc_key: str
    symbol: str
    sha256: str
    signature: tuple[StatedArgument, ...]


@dataclass(frozen=True)
class KernelRecord:
    """A shipped kernel. `metadata` is as written, `completed` has the declared defaults; `pack` is its pack's file.

    `record` is the descriptor as it stands in its file: digests are taken over that.
    """

    id: str
    name: str
    pack: str
    arch: tuple[str, ...]
    metadata: Mapping[str, Any]
    completed: Mapping[str, Any]
    priority: int
    source: ObjectSource
    record: Mapping[str, Any]
    place: Place


@dataclass(frozen=True)
class PackedTree:
    """One engine with its kernels, in the order of the packs' files. `packs` are those files."""

    engine: EngineRecord
    fields: tuple[MetadataField, ...]
    packs: tuple[str, ...]
    kernels: tuple[KernelRecord, ...]


def read_packed(folder: Path, files: Mapping[str, bytes]) -> PackedTree:
    """The engine that a shard's files describe (by name relative to `folder`; hidden files are passed over).

    Raises:
        InputError: a descriptor is malformed, has an unknown key, lacks one or refers to nothing; an id is used twice;
            there is not exactly one engine.
    """
    found = load_descriptors(folder, files)
    (kmd,) = found.only_one("kmd").values()
    ((ued_file, ued),) = found.only_one("ued").items()
    fields = tuple(_fields(kmd.only(_KMD_KEYS)))
    engine = _engine(ued, ued_file)
    found.check_reference(ued, "metadata", "kmd")
    for sought, at in _heuristics(ued):
        found.check_named(ued, sought, "uhd", *at)
    if not found.by_kind["kdp"]:
        raise InputError("no .kdp.json file", place=Place(str(folder)), cure=REPACK)
    kernels = tuple(kernel for name in found.by_kind["kdp"] for kernel in _kernels(found, name, fields))
    _check_ids(found, kernels)
    return PackedTree(engine, fields, tuple(found.by_kind["kdp"]), kernels)


def _fields(kmd: Record) -> Iterator[MetadataField]:
    for declared in kmd.records("fields"):
        declared.only(_FIELD_KEYS)
        name, default = declared.text("name"), declared.data.get("default_value")
        kind = next((known for known in get_args(FieldType) if known == declared.text("type")), None)
        if kind is None:
            raise declared.unfit(declared.data["type"], f"one of {', '.join(get_args(FieldType))}", "type")
        if default is not None and not _is_value(default):
            raise declared.unfit(default, _VALUE, "default_value")
        yield MetadataField(name, kind, default)


def _is_value(value: object) -> bool:
    if type(value) is list:
        return all(type(item) is int for item in value)
    return type(value) in (bool, int, float, str)


def _engine(ued: Record, file: str) -> EngineRecord:
    ued.only((*_UED_KEYS, *(key for key in ued.data if key.startswith(("x-", "_")))))
    heuristic = ued.text_if_any("heuristic")
    roles = [role for role in _ROLES if ued.has(role)]
    if heuristic is not None and roles:
        raise ued.problem(f"has both heuristic and {roles[0]}", "heuristic", cure="keep the roles")
    return EngineRecord(
        id=ued.text("id"),
        name=ued.text("name"),
        ranked=heuristic is not None or "sort_kernel_catalog" in roles,
        extension=ued.mapping("x-winnow") if ued.has("x-winnow") else None,
        file=file,
    )


def _heuristics(ued: Record) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """(id, key path) of each heuristic that an engine names."""
    if ued.has("heuristic"):
        yield ued.text("heuristic"), ("heuristic",)
    for role in filter(ued.has, _ROLES):
        by_arch = ued.record(role)
        for arch, stated in by_arch.data.items():
            listed = isinstance(stated, list)
            for i, one in enumerate(by_arch.texts(arch) if listed else (by_arch.text(arch),)):
                yield one, (role, arch, i) if listed else (role, arch)


def _kernels(found: Descriptors, file: str, fields: tuple[MetadataField, ...]) -> Iterator[KernelRecord]:
    pack = found.by_kind["kdp"][file].only(_KDP_KEYS)
    found.check_reference(pack, "engine", "ued")
    found.check_reference(pack, "dispatch", "udd")
    for i, matcher in enumerate(pack.texts("matchers")):
        found.check_named(pack, matcher, "umd", "matchers", i)
    arch = pack.texts("arch") if "arch" in pack.data else ()
    seen: set[str] = set()
    for i, item in enumerate(pack.items("kernelDescriptors")):
        kernel = _listed(found, pack, i, item)
        place = Place(pack.document.file, key=f"kernelDescriptors[{i}]")
        read = _kernel(kernel, fields, file, arch, place)
        if read.id in seen:
            raise InputError(f"{read.name} ({read.id}) is listed twice", place=place, cure="list each kernel once")
        seen.add(read.id)
        yield read


def _listed(found: Descriptors, pack: Record, i: int, item: object) -> Record:
    """A kernel that a pack lists, whether it stands there or is named by its id."""
    if isinstance(item, str):
        found.check_named(pack, item, "ukd", "kernelDescriptors", i)
        return found.by_id["ukd"][item]
    if not isinstance(item, dict):
        raise pack.unfit(item, "a kernel or the id of one", "kernelDescriptors", i)
    kernel = Record(pack.document, ("kernelDescriptors", i), item)
    if kernel.has("version"):
        check_version(kernel)
    return kernel


def _kernel(
    kernel: Record, fields: tuple[MetadataField, ...], pack: str, arch: tuple[str, ...], place: Place
) -> KernelRecord:
    kernel.only(_UKD_KEYS)
    metadata = kernel.mapping("metadata")
    for name, value in metadata.items():
        if not _is_value(value):
            raise kernel.unfit(value, _VALUE, "metadata", name)
    return KernelRecord(
        id=kernel.text("id"),
        name=kernel.text("name"),
        pack=pack,
        arch=kernel.texts("arch") if kernel.has("arch") else arch,
        metadata=metadata,
        completed=completed(fields, metadata),
        priority=kernel.integer("priority"),
        source=_source(kernel.record("kernel_source")),
        record=kernel.data,
        place=place,
    )


def _source(source: Record) -> ObjectSource:
    source.only(_SOURCE_KEYS)
    if source.text("kind") != "kpack":
        raise source.unfit(source.data["kind"], '"kpack"', "kind")
    library, toc_key, symbol, sha256 = (source.text(key) for key in ("library", "toc_key", "symbol", "sha256"))
    if not _SHA256.fullmatch(sha256):
        raise source.unfit(sha256, "64 lower-case hex digits", "sha256")
    return ObjectSource(library, toc_key, symbol, sha256, tuple(map(_argument, source.records("signature"))))


def _argument(argument: Record) -> StatedArgument:
    argument.only(_ARGUMENT_KEYS)
    name = argument.text("name") if "name" in argument.data else ""
    return argument.text("kind"), argument.integer("size"), argument.integer("offset"), name


def _check_ids(found: Descriptors, kernels: tuple[KernelRecord, ...]) -> None:
    files: dict[str, str] = {}
    for group in found.by_kind.values():
        for name, record in group.items():
            _claim(files, record.text("id"), record.text("name"), name, Place(record.document.file))
    standalone = {id(record.data) for record in found.by_kind["ukd"].values()}
    for kernel in kernels:
        if id(kernel.record) not in standalone:
            _claim(files, kernel.id, kernel.name, kernel.pack, kernel.place)


def _claim(files: dict[str, str], identity: str, name: str, file: str, place: Place) -> None:
    """Note the file that has an id. Raises InputError where another descriptor has it."""
    if identity in files:
        raise InputError(
            f"id {identity} ({name}) is also used in {files[identity]}",
            place=place,
            cure="give each descriptor an id of its own",
        )
    files[identity] = file
