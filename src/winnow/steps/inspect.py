"""What a catalog, a packed shard, a descriptor, an archive or a code object holds, and which files are damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from winnow.archive.kpack import KpackReader
from winnow.archive.marker import MARKER
from winnow.compilers.amd_object import is_amd_object, kernels_of, read_amd_object
from winnow.compilers.code_object import CodeObject
from winnow.compilers.elf_note import read_back, read_note
from winnow.compilers.nvidia_object import is_nvidia_object, noted_symbol, read_nvidia_object
from winnow.descriptors.documents import Kdp, Kmd, Ukd
from winnow.descriptors.reading import kind_of, plain_record, read_descriptor
from winnow.descriptors.tree import read_tree
from winnow.errors import InputError, Place
from winnow.identity import sha256_hex
from winnow.metadata import completed
from winnow.strict.json_reader import load_json


def inspect_path(path: Path) -> dict[str, Any]:
    """What is at `path`, by title: records, or lists of records. `damage` lists files that are not as they were packed.

    Raises:
        InputError: nothing is there, or it is none of these.
    """
    holds = _reader(path)(path)
    damage = _damaged_files(path) or holds.get("damage", [])
    if damage:
        holds["damage"] = damage
    return holds


def _reader(path: Path) -> Callable[[Path], dict[str, Any]]:
    if path.is_dir():
        return _directory
    if not path.is_file():
        raise InputError("no such file or directory", place=Place(str(path)))
    if path.suffix == ".kpack":
        return _archive
    if path.suffix == ".json":
        return _descriptor
    with path.open("rb") as file:
        if file.read(4) == b"\x7fELF":
            return _code_object
    raise InputError(
        "neither a descriptor, an archive nor a code object",
        place=Place(str(path)),
        cure="name a directory of descriptors, a *.<type>.json file, a *.kpack file or a shared object",
    )


def _directory(path: Path) -> dict[str, Any]:
    tree = read_tree(path)
    documents = [
        {"type": kind, "name": document.name, "id": document.id, "file": name}
        for kind, group in tree.found.items()
        for name, document in group
    ]
    if not documents:
        raise InputError("no descriptors below this directory", place=Place(str(path)))
    fields = [field for _, kmd in tree.found["kmd"] for field in kmd.fields]
    kernels = [
        _kernel(kernel, kdp.arch_of(kernel), completed(fields, kernel.metadata))
        for _, kdp in tree.found["kdp"]
        for kernel in kdp.kernels
    ]
    return {"descriptors": documents, "kernels": kernels}


def _kernel(kernel: Ukd, arch: Sequence[str], metadata: Mapping[str, Any]) -> dict[str, Any]:
    kind = kernel.kernel_source.get("kind")
    return {
        "name": kernel.name,
        "kind": kind,
        "arch": list(arch),
        "priority": kernel.priority,
        "metadata": dict(metadata),
    }


def _descriptor(path: Path) -> dict[str, Any]:
    raw = read_descriptor(path) if kind_of(path) != "kdp" else _pack_by_itself(path)
    if isinstance(raw, Kmd):
        return {"descriptor": _head(plain_record(raw), "fields"), "fields": plain_record(raw)["fields"]}
    if isinstance(raw, Kdp):
        kernels = [_kernel(kernel, raw.arch_of(kernel), kernel.metadata) for kernel in raw.kernels]
        return {"descriptor": _head(plain_record(raw), "kernelDescriptors"), "kernels": kernels}
    return {"descriptor": plain_record(raw)}


def _pack_by_itself(path: Path) -> Any:
    """A pack's kernels may stand in files beside it."""
    tree = read_tree(path.parent)
    return next(kdp for name, kdp in tree.found["kdp"] if name == path.name)


def _head(record: Mapping[str, Any], without: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != without}


def _archive(path: Path) -> dict[str, Any]:
    """What can be read of an archive; `damage` says of the rest why it cannot."""
    data = path.read_bytes()
    try:
        reader = KpackReader(data, str(path))
    except InputError as error:
        return {"archive": {"bytes": len(data), "sha256": sha256_hex(data)}, "damage": [_fault(path, error.message)]}
    objects, damage = [], []
    for key, arch in reader.keys:
        row: dict[str, Any] = {"path": key, "arch": arch, "type": reader.type_of(key, arch)}
        try:
            payload = reader.read(key, arch)
            row |= {"bytes": len(payload), "sha256": sha256_hex(payload)}
        except InputError as error:
            damage.append(_fault(path, error.message))
        objects.append(row)
    head = {"group": reader.group, "family": reader.family, "arches": list(reader.arches), "scheme": reader.scheme}
    return {"archive": head, "objects": objects, "damage": damage}


def _fault(path: Path, problem: str) -> dict[str, str]:
    return {"file": str(path), "problem": problem}


def _damaged_files(path: Path) -> list[dict[str, str]]:
    """Those of the files at or below `path` that are not what the marker of a packed shard says of them."""
    markers = path.rglob(MARKER) if path.is_dir() else (parent / MARKER for parent in path.absolute().parents)
    found = []
    for marker in filter(Path.is_file, markers):
        if path.is_dir() and any(name.startswith(".") for name in marker.relative_to(path).parts):
            continue  # A writer's unfinished shard, or one that it replaced.
        for name, digest in sorted(_digests(marker).items()):
            file = marker.parent / name
            if not path.is_dir() and file != path.absolute():
                continue
            if not file.is_file():
                found.append(_fault(file, "the shard lacks this file"))
            elif sha256_hex(file.read_bytes()) != digest:
                found.append(_fault(file, "it is not as it was packed: its digest is not the one that the marker has"))
    return found


def _digests(marker: Path) -> dict[str, str]:
    """The digests that a marker has by file; itself with none where it is not as a pack writes it."""
    try:
        data = load_json(marker).data
    except InputError:
        data = None
    files = data.get("files") if isinstance(data, dict) else None
    return files if isinstance(files, dict) else {marker.name: ""}


_Names = Callable[[bytes], Sequence[str]]
_Reads = Callable[[bytes, str], CodeObject]

# How to know an object's format, what kernels it holds, and how each is read.
_FORMATS: tuple[tuple[Callable[[bytes], bool], _Names, _Reads], ...] = (
    (is_amd_object, kernels_of, read_amd_object),
    (is_nvidia_object, lambda payload: [noted_symbol(payload)], read_nvidia_object),
    (lambda payload: True, lambda payload: [read_note(payload).symbol], read_back),
)


def _code_object(path: Path) -> dict[str, Any]:
    payload = path.read_bytes()
    names, read = next((names, read) for matches, names, read in _FORMATS if matches(payload))
    try:
        kernels = [read(payload, name) for name in names(payload)]
    except InputError as error:
        raise InputError(error.message, place=Place(str(path)), cure=error.cure) from None
    holds: dict[str, Any] = {"code object": {"bytes": len(payload), "sha256": sha256_hex(payload)}}
    # Only Winnow's own objects count their matrix instructions.
    counted: dict[str, Any] = {"matrix_instructions": "not stated"} if is_amd_object(payload) else {}
    for code in kernels:
        holds[code.symbol] = {"target": code.target, **counted, **code.resources}
        holds[f"arguments of {code.symbol}"] = [asdict(argument) for argument in code.signature]
    return holds
