"""Opening a shard: every digest is compared before a single object is handed out."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.archive.kpack import KpackReader
from winnow.archive.marker import check_digest, mismatch, read_marked
from winnow.archive.sidecar import SidecarEntry, find_sidecar, parse_sidecar
from winnow.archive.tree import EngineRecord, KernelRecord, MetadataField, PackedTree, StatedArgument, read_packed
from winnow.compilers.code_object import Argument, CodeObject
from winnow.compilers.compiler import Compiler
from winnow.errors import InputError, Place
from winnow.identity import sha256_hex
from winnow.strict.document import Document
from winnow.strict.record import record_of
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
    """An opened shard. `objects` and `provenance` are by kernel id.

    Whoever wants its descriptors as documents reads them beside it, from `root`.
    """

    root: Path
    arch: str
    engine: EngineRecord
    fields: tuple[MetadataField, ...]
    kernels: tuple[KernelRecord, ...]
    objects: Mapping[str, PackedObject]
    provenance: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class _Wanted:
    """A shipped kernel with its archive's name in the shard."""

    kernel: KernelRecord
    archive: str


def shards_of(root: Path) -> tuple[str, ...]:
    """The architectures that have a folder below `root`; opening one says whether it is a finished shard."""
    return tuple(sorted(path.name for path in root.glob("[!.]*") if path.is_dir()))


def open_shard(root: Path, arch: str, *, compilers: Mapping[str, Compiler] | None = None) -> Shard:
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
    tree = read_packed(folder, files)
    wanted = [_wanted(kernel, folder, files) for kernel in tree.kernels]
    for name in archives:
        _check_archive(folder, name, files[name], digests[name], [item for item in wanted if item.archive == name])
    readers = {name: KpackReader(files[name], str(folder / name)) for name in archives}
    entries = _entries(tree, folder, files)
    objects: dict[str, PackedObject] = {}
    for item in wanted:
        kernel = item.kernel
        payload = readers[item.archive].read(kernel.source.toc_key, arch)
        check_digest(kernel.source.sha256, payload, Place(str(folder / item.archive)), kernel.name)
        entry = entries.get(kernel.id)
        if entry is None or not entry.belongs_to(kernel.record):
            problem = "has no entry for" if entry is None else "was written for another form of"
            raise _refused(f"the provenance {problem} {kernel.name}", kernel)
        objects[kernel.id] = _object(kernel, payload, entry.provenance, arch, compilers)
    provenance = {kernel_id: entries[kernel_id].provenance for kernel_id in objects}
    return Shard(folder, arch, tree.engine, tree.fields, tree.kernels, objects, provenance)


def _wanted(kernel: KernelRecord, folder: Path, files: Mapping[str, bytes]) -> _Wanted:
    library = kernel.source.library
    archive = posixpath.normpath(posixpath.join(posixpath.dirname(kernel.pack), library))
    if archive not in files or not archive.endswith(".kpack"):
        raise InputError(f"{kernel.name}: the shard has no archive {library}", place=kernel.place)
    if kernel.arch != (folder.name,):
        raise InputError(f"{kernel.name}: arch is {list(kernel.arch)}, not {[folder.name]}", place=kernel.place)
    return _Wanted(kernel, archive)


def _refused(problem: str, kernel: KernelRecord) -> InputError:
    return InputError(problem, place=kernel.place, cure="pack the catalog again")


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
            payload = reader.read(item.kernel.source.toc_key, folder.name)
        except InputError as error:
            return f" (kernel {item.kernel.name}: {error.message})"
        if sha256_hex(payload) != item.kernel.source.sha256:
            return f" (kernel {item.kernel.name}: its object is not the one that was packed)"
    return " (no kernel's object is touched)"


def _entries(tree: PackedTree, folder: Path, files: Mapping[str, bytes]) -> dict[str, SidecarEntry]:
    found: dict[str, SidecarEntry] = {}
    for pack in tree.packs:
        path = find_sidecar(folder / pack)
        found.update(parse_sidecar(files.get(path.relative_to(folder).as_posix()), path))
    return found


def _object(
    kernel: KernelRecord,
    payload: bytes,
    provenance: Mapping[str, Any],
    arch: str,
    compilers: Mapping[str, Compiler] | None,
) -> PackedObject:
    source = kernel.source
    origin = record_of(Document(f"provenance of {kernel.name}", provenance, {}))
    kind, origin_arch, target = origin.text("origin_kind"), origin.texts("arch"), origin.text("target")
    try:
        code = _read_back(kind, payload, source.symbol, compilers)
    except InputError as error:
        raise InputError(f"{kernel.name}: {error.message}", place=kernel.place, cure=error.cure) from None
    admitted = admitted_target(origin_arch, arch)
    if admitted is None or not admitted[1] == code.target == target:
        raise _refused(
            f"{kernel.name}: its object is for {code.target}, its provenance says {target} of {list(origin_arch)}",
            kernel,
        )
    true = tuple((argument.kind, argument.size, argument.offset, argument.name) for argument in code.signature)
    if source.signature != true:
        raise _refused(
            f"{kernel.name}: its descriptor states the arguments {_shown(source.signature)}, "
            f"its object takes {_shown(true)}",
            kernel,
        )
    return PackedObject(payload, source.symbol, code.signature, source.sha256, code.target, admitted[0], code.resources)


def _read_back(kind: str, payload: bytes, symbol: str, compilers: Mapping[str, Compiler] | None) -> CodeObject:
    """What an object says of itself. Only a compiler knows its objects' form, and only opening a shard needs one."""
    from winnow.compilers.checked import read_object
    from winnow.compilers.find import find_compiler

    return read_object(find_compiler(kind, compilers), payload, symbol)


def _shown(arguments: Iterable[StatedArgument]) -> str:
    return ", ".join(f"{name or kind} ({size} bytes at {offset})" for kind, size, offset, name in arguments) or "none"
