"""The kpack archive: code objects by (path, arch), in one file, read without trusting a single number in it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Literal

import msgpack
import zstandard

from winnow.errors import InputError, Place

Scheme = Literal["none", "zstd-per-kernel"]

MAGIC = b"KPAK"
VERSION = 1
TOC_VERSION = 1
BLOB_START = 64
ZSTD_LEVEL = 3
MAX_OBJECT_BYTES = 1 << 30
"""No code object is larger; an archive that says so is damaged."""

_HEADER = struct.Struct("<4sIQ")
_COUNT = struct.Struct("<I")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class KpackEntry:
    """One object to be archived. `type` is what its bytes are (`hsaco`, `cubin`, `so`)."""

    path: str
    arch: str
    payload: bytes
    type: str = "hsaco"
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Located:
    ordinal: int
    original_size: int
    type: str
    metadata: Mapping[str, str]


def write_kpack(
    group: str,
    family: str,
    arches: Sequence[str],
    entries: Iterable[KpackEntry],
    *,
    scheme: Scheme = "zstd-per-kernel",
) -> bytes:
    """The archive's bytes; the same entries in the same order give the same bytes.

    Raises:
        InputError: two entries have the same path and arch, or one has an arch that `arches` lacks.
    """
    toc: dict[str, dict[str, Any]] = {}
    payloads: list[bytes] = []
    for entry in entries:
        path = entry.path.replace("\\", "/")
        row = toc.setdefault(path, {})
        if entry.arch in row:
            raise InputError(f'the archive would hold "{path}" for {entry.arch} twice')
        if entry.arch not in arches:
            raise InputError(f'"{path}" is for {entry.arch}, the archive only for {", ".join(arches)}')
        row[entry.arch] = {"type": entry.type, "ordinal": len(payloads), "original_size": len(entry.payload)}
        if entry.metadata:
            row[entry.arch]["metadata"] = dict(entry.metadata)
        payloads.append(entry.payload)
    blobs, where = _WRITERS[scheme](payloads)
    head: dict[str, Any] = {
        "format_version": TOC_VERSION,
        "group_name": group,
        "gfx_arch_family": family,
        "gfx_arches": list(arches),
        "toc": toc,
        "compression_scheme": scheme,
        **where,
    }
    header = _HEADER.pack(MAGIC, VERSION, BLOB_START + len(blobs))
    packed: bytes = msgpack.packb(head, use_bin_type=True)
    return header.ljust(BLOB_START, b"\0") + blobs + packed


def _write_plain(payloads: Sequence[bytes]) -> tuple[bytes, dict[str, Any]]:
    rows: list[dict[str, int]] = []
    offset = BLOB_START
    for payload in payloads:
        rows.append({"offset": offset, "size": len(payload)})
        offset += len(payload)
    return b"".join(payloads), {"blobs": rows}


def _write_zstd(payloads: Sequence[bytes]) -> tuple[bytes, dict[str, Any]]:
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
    frames = [compressor.compress(payload) for payload in payloads]
    area = _COUNT.pack(len(frames)) + b"".join(_COUNT.pack(len(frame)) + frame for frame in frames)
    return area, {"zstd_offset": BLOB_START, "zstd_size": len(area)}


_WRITERS: Mapping[Scheme, Callable[[Sequence[bytes]], tuple[bytes, dict[str, Any]]]] = {
    "none": _write_plain,
    "zstd-per-kernel": _write_zstd,
}


class KpackReader:
    """An archive in memory. Every offset, size and ordinal is checked against the bytes that are really there."""

    def __init__(self, data: bytes, file: str) -> None:
        """Reads the table of contents of `data`; `file` is the name that errors show.

        Raises:
            InputError: not a kpack archive, another version or scheme, or a table that does not fit the file.
        """
        self.file = file
        self._data = data
        toc_offset = self._header()
        head = self._unpack(data[toc_offset:])
        if _integer(head, "format_version") != TOC_VERSION:
            raise self._malformed(f"format_version is {head.get('format_version')!r}, this reader knows {TOC_VERSION}")
        self.group = self._text(head, "group_name")
        self.family = self._text(head, "gfx_arch_family")
        self.arches = self._texts(head, "gfx_arches")
        scheme = self._text(head, "compression_scheme")
        if scheme not in self._LOCATORS:
            raise self._malformed(f"unknown compression scheme {scheme!r}")
        self.scheme = scheme
        self._extents = self._LOCATORS[scheme](self, head, toc_offset)
        self._entries = self._toc(head)

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """(path, arch) of every object, in the archive's order."""
        return tuple(self._entries)

    def type_of(self, path: str, arch: str) -> str:
        """What the bytes of an object are (`hsaco`, `cubin`, `so`). Raises InputError where there is none."""
        return self._located(path, arch).type

    def metadata(self, path: str, arch: str) -> Mapping[str, str]:
        """What the archive says beside an object. Raises InputError where there is none."""
        return self._located(path, arch).metadata

    def read(self, path: str, arch: str) -> bytes:
        """One object, decompressed.

        Raises:
            InputError: the archive has no such object, or its bytes are damaged.
        """
        located = self._located(path, arch)
        start, size = self._extents[located.ordinal]
        blob = self._data[start : start + size]
        payload = blob if self.scheme == "none" else self._decompress(blob, located.original_size, path)
        if len(payload) != located.original_size:
            raise self._malformed(f'"{path}" has {len(payload)} bytes, the table says {located.original_size}')
        return payload

    def _located(self, path: str, arch: str) -> _Located:
        found = self._entries.get((path, arch))
        if found is None:
            raise InputError(f'the archive holds no "{path}" for {arch}', place=Place(self.file))
        return found

    def _malformed(self, problem: str) -> InputError:
        return InputError(f"malformed kpack archive: {problem}", place=Place(self.file), cure="pack the catalog again")

    def _header(self) -> int:
        if len(self._data) < BLOB_START:
            raise self._malformed(f"{len(self._data)} bytes are less than its header")
        magic, version, toc_offset = _HEADER.unpack_from(self._data)
        if magic != MAGIC:
            raise self._malformed(f"it begins with {magic!r}, not {MAGIC!r}")
        if version != VERSION:
            raise self._malformed(f"version {version}, this reader knows {VERSION}")
        if any(self._data[_HEADER.size : BLOB_START]):
            raise self._malformed("the padding after its header is not zero")
        if not BLOB_START <= toc_offset < len(self._data):
            raise self._malformed(f"its table would begin at byte {toc_offset} of {len(self._data)}")
        return int(toc_offset)

    def _unpack(self, raw: bytes) -> dict[str, Any]:
        try:
            head = msgpack.unpackb(raw, raw=False, object_pairs_hook=_closed)
        except (ValueError, msgpack.UnpackException) as error:
            raise self._malformed(f"its table is not msgpack: {error or type(error).__name__}") from None
        if not isinstance(head, dict):
            raise self._malformed("its table is not a map")
        return head

    def _text(self, owner: Mapping[str, Any], key: str) -> str:
        value = owner.get(key)
        if not isinstance(value, str):
            raise self._malformed(f"{key} is not text")
        return value

    def _texts(self, owner: Mapping[str, Any], key: str) -> tuple[str, ...]:
        value = owner.get(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._malformed(f"{key} is not a list of texts")
        return tuple(value)

    def _plain(self, head: Mapping[str, Any], end: int) -> list[tuple[int, int]]:
        """(start, size) of each object of the scheme `none`."""
        rows = head.get("blobs")
        if not isinstance(rows, list):
            raise self._malformed("blobs is not a list")
        extents: list[tuple[int, int]] = []
        for i, row in enumerate(rows):
            offset, size = (_integer(row, key) for key in ("offset", "size"))
            if offset is None or size is None or offset < BLOB_START or offset + size > end:
                raise self._malformed(f"blob {i} lies outside the blob area")
            extents.append((offset, size))
        if any(start + size > following for (start, size), (following, _) in pairwise(sorted(extents))):
            raise self._malformed("two blobs overlap")
        return extents

    def _frames(self, head: Mapping[str, Any], end: int) -> list[tuple[int, int]]:
        """(start, size) of each frame of the scheme `zstd-per-kernel`."""
        offset, size = _integer(head, "zstd_offset"), _integer(head, "zstd_size")
        if offset is None or size is None or offset < BLOB_START or size < _COUNT.size or offset + size > end:
            raise self._malformed("the compressed area lies outside the blob area")
        (count,) = _COUNT.unpack_from(self._data, offset)
        stop, at = offset + size, offset + _COUNT.size
        extents: list[tuple[int, int]] = []
        for i in range(count):
            length = _COUNT.unpack_from(self._data, at)[0] if at + _COUNT.size <= stop else None
            at += _COUNT.size
            if length is None or at + length > stop:
                raise self._malformed(f"frame {i} of {count} lies outside the compressed area")
            extents.append((at, length))
            at += length
        if at != stop:
            raise self._malformed(f"{stop - at} bytes of the compressed area belong to no frame")
        return extents

    _LOCATORS: ClassVar[Mapping[str, Callable[[KpackReader, Mapping[str, Any], int], list[tuple[int, int]]]]] = {
        "none": _plain,
        "zstd-per-kernel": _frames,
    }

    def _toc(self, head: Mapping[str, Any]) -> dict[tuple[str, str], _Located]:
        table = head.get("toc")
        if not isinstance(table, dict):
            raise self._malformed("toc is not a map")
        entries: dict[tuple[str, str], _Located] = {}
        for path, row in table.items():
            if not isinstance(row, dict):
                raise self._malformed(f'toc row "{path}" is not a map')
            for arch, cell in row.items():
                if arch not in self.arches:
                    raise self._malformed(f'"{path}" is for {arch}, which is not one of {", ".join(self.arches)}')
                entries[path, arch] = self._cell(cell, f'"{path}" for {arch}')
        return entries

    def _cell(self, cell: Any, name: str) -> _Located:
        ordinal, size = _integer(cell, "ordinal"), _integer(cell, "original_size")
        if ordinal is None or ordinal >= len(self._extents):
            raise self._malformed(f"{name} has no place among the {len(self._extents)} objects")
        if size is None or size > MAX_OBJECT_BYTES:
            raise self._malformed(f"{name} has no possible size")
        metadata = cell.get("metadata", {})
        if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
            raise self._malformed(f"{name} has metadata that is not text")
        return _Located(ordinal, size, self._text(cell, "type"), metadata)

    def _decompress(self, frame: bytes, size: int, path: str) -> bytes:
        """The frame's content, read piece by piece, so that no size is reserved that the bytes do not fill."""
        pieces: list[bytes] = []
        total = 0
        try:
            declared = zstandard.get_frame_parameters(frame).content_size
            if declared not in (size, zstandard.CONTENTSIZE_UNKNOWN):
                raise self._malformed(f'"{path}" declares {declared} bytes, the table says {size}')
            with zstandard.ZstdDecompressor().stream_reader(frame) as stream:
                while total <= size and (piece := stream.read(_CHUNK)):
                    pieces.append(piece)
                    total += len(piece)
        except zstandard.ZstdError as error:
            raise self._malformed(f'"{path}" cannot be decompressed: {error}') from None
        return b"".join(pieces)


def _integer(owner: Any, key: str) -> int | None:
    """A non-negative integer, or None for anything else: a bool is not an integer here."""
    value = owner.get(key) if isinstance(owner, dict) else None
    return value if type(value) is int and value >= 0 else None


def _closed(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str) or key in found:
            raise ValueError(f"key {key!r} is not text, or appears twice")
        found[key] = value
    return found
