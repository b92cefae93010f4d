"""Opening a shard: every digest is compared before a single object is handed out."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import StringConstraints

from winnow.archive.kpack import KpackReader
from winnow.archive.marker import check_digest, mismatch, read_marked
from winnow.archive.sidecar import SidecarEntry, find_sidecar, read_sidecar
from winnow.compilers.code_object import Argument
from winnow.compilers.find import Compilers, find_compiler
from winnow.descriptors.documents import Ukd
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.errors import InputError, Place
from winnow.identity import sha256_hex
from winnow.strict.document import Document
from winnow.strict.schema import StrictModel, validate
from winnow.targets.tiers import Tier, admitted_target


@dataclass(frozen=True)
class PackedObject:
    """One kernel's code as it will be loaded. `target` is what it was compiled for; `tier`, how it got in here."""

    payload: bytes
    symbol: str
    signature: tuple[Argument, ...]
    sha256: str
    target: str
    tier: Tier
    resources: Mapping[str, int]


@dataclass(frozen=True)
class Shard:
    """An opened shard. `objects` and `provenance` are by kernel id."""

    root: Path
    arch: str
    catalog: Catalog
    objects: Mapping[str, PackedObject]
    provenance: Mapping[str, Mapping[str, Any]]


class _SignatureEntry(StrictModel):
    kind: str
    size: int
    offset: int
    name: str = ""


class KpackSource(StrictModel):
    """The kernel source of a shipped kernel: where its object lies, and what it must be."""

    kind: Literal["kpack"]
    library: str
    toc_key: str
    symbol: str
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    signature: list[_SignatureEntry]


@dataclass(frozen=True)
class _Wanted:
    """A shipped kernel with its place, its archive's name in the shard, and its source."""

    kernel: Ukd
    place: Place
    archive: str
    source: KpackSource


def shards_of(root: Path) -> tuple[str, ...]:
    """The architectures that have a folder below `root`; opening one says whether it is a finished shard."""
    return tuple(sorted(path.name for path in root.glob("[!.]*") if path.is_dir()))


def open_shard(root: Path, arch: str, *, compilers: Compilers | None = None) -> Shard:
    """The shard of `arch` below `root`, once all of it is known to be what was packed.

    `compilers` replaces the installed ones, which read what an object says of itself.

    Raises:
        InputError: no shard of exactly this arch, a file or an object whose digest is not the one recorded, or an
            object whose arguments are not the ones that its descriptor states.
    """
    folder = root / arch
    if not folder.is_dir():
        there = shards_of(root)
        raise InputError(
            f"no shard for {arch}",
            place=Place(str(root)),
            cure=f"run `winnow pack --arch {arch}` (shards here: {', '.join(there) or 'none'})",
        )
    files, digests = read_marked(folder, arch)
    archives = [name for name in files if name.endswith(".kpack")]
    for name in files:
        if name not in archives:
            check_digest(digests[name], files[name], Place(str(folder / name)))
    catalog = read_catalog(folder)
    wanted = _wanted(catalog, folder, files)
    for name in archives:
        _check_archive(folder, name, files[name], digests[name], [item for item in wanted if item.archive == name])
    readers = {name: KpackReader(files[name], str(folder / name)) for name in archives}
    entries = _entries(catalog, folder)
    objects: dict[str, PackedObject] = {}
    for item in wanted:
        kernel = item.kernel
        payload = readers[item.archive].read(item.source.toc_key, arch)
        check_digest(item.source.sha256, payload, Place(str(folder / item.archive)), kernel.name)
        entry = entries.get(kernel.id)
        if entry is None or not entry.belongs_to(kernel):
            problem = "has no entry for" if entry is None else "was written for another form of"
            raise InputError(f"the provenance {problem} {kernel.name}", place=item.place, cure="pack the catalog again")
        objects[kernel.id] = _object(item, payload, entry.provenance, arch, compilers)
    return Shard(folder, arch, catalog, objects, {ukd_id: entries[ukd_id].provenance for ukd_id in objects})


def _wanted(catalog: Catalog, folder: Path, files: Mapping[str, bytes]) -> list[_Wanted]:
    found: list[_Wanted] = []
    for name, kdp in catalog.kdps:
        for i, kernel in enumerate(kdp.kernels):
            place = Place(str(folder / name), key=f"kernelDescriptors[{i}]")
            document = Document(place.file, {place.key: {"kernel_source": kernel.kernel_source}}, {})
            source = validate(KpackSource, document, f"kernelDescriptors[{i}]", "kernel_source")
            archive = posixpath.normpath(posixpath.join(posixpath.dirname(name), source.library))
            if archive not in files or not archive.endswith(".kpack"):
                raise InputError(f"{kernel.name}: the shard has no archive {source.library}", place=place)
            if kdp.arch_of(kernel) != [folder.name]:
                raise InputError(f"{kernel.name}: arch is {kdp.arch_of(kernel)}, not {[folder.name]}", place=place)
            found.append(_Wanted(kernel, place, archive, source))
    return found


def _check_archive(folder: Path, name: str, data: bytes, expected: str, wanted: list[_Wanted]) -> None:
    """Compare an archive's digest; where it differs, say which kernel is damaged."""
    found = sha256_hex(data)
    if found == expected:
        return
    raise mismatch(expected, found, Place(str(folder / name)), more=_damage(folder, name, data, wanted))


def _damage(folder: Path, name: str, data: bytes, wanted: list[_Wanted]) -> str:
    try:
        reader = KpackReader(data, str(folder / name))
    except InputError as error:
        return f" ({error.message})"
    for item in wanted:
        try:
            payload = reader.read(item.source.toc_key, folder.name)
        except InputError as error:
            return f" (kernel {item.kernel.name}: {error.message})"
        if sha256_hex(payload) != item.source.sha256:
            return f" (kernel {item.kernel.name}: its object is not the one that was packed)"
    return " (no kernel's object is touched)"


def _entries(catalog: Catalog, folder: Path) -> dict[str, SidecarEntry]:
    found: dict[str, SidecarEntry] = {}
    for name, _ in catalog.kdps:
        found.update(read_sidecar(find_sidecar(folder / name)))
    return found


class _Origin(StrictModel):
    origin_kind: str
    arch: list[str]
    target: str


def _object(
    item: _Wanted, payload: bytes, provenance: Mapping[str, Any], arch: str, compilers: Compilers | None
) -> PackedObject:
    kernel, source = item.kernel, item.source
    known = {key: value for key, value in provenance.items() if key in _Origin.model_fields}
    origin = validate(_Origin, Document(f"provenance of {kernel.name}", known, {}))
    try:
        code = find_compiler(origin.origin_kind, compilers).read_back(payload, source.symbol)
    except InputError as error:
        raise InputError(f"{kernel.name}: {error.message}", place=item.place, cure=error.cure) from None
    admitted = admitted_target(origin.arch, arch)
    if admitted is None or not admitted[1] == code.target == origin.target:
        raise InputError(
            f"{kernel.name}: its object is for {code.target}, its provenance says {origin.target} of {origin.arch}",
            place=item.place,
            cure="pack the catalog again",
        )
    stated, true = _arguments(source.signature), _arguments(code.signature)
    if stated != true:
        raise InputError(
            f"{kernel.name}: its descriptor states the arguments {_shown(stated)}, its object takes {_shown(true)}",
            place=item.place,
            cure="pack the catalog again",
        )
    return PackedObject(payload, source.symbol, code.signature, source.sha256, code.target, admitted[0], code.resources)


_Argument = tuple[str, int, int, str]


def _arguments(signature: Iterable[Argument | _SignatureEntry]) -> list[_Argument]:
    return [(argument.kind, argument.size, argument.offset, argument.name) for argument in signature]


def _shown(arguments: Iterable[_Argument]) -> str:
    return ", ".join(f"{name or kind} ({size} bytes at {offset})" for kind, size, offset, name in arguments) or "none"
