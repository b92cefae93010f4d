"""The note that a CPU object carries about itself (`.note.winnow`), and reading an object back by it."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from typing import Any

import msgpack
from elftools.elf.elffile import ELFFile
from pydantic import ValidationError

from winnow.compilers.code_object import Argument, ArgumentKind, CodeObject
from winnow.compilers.layout import argument_layout, parameters_of
from winnow.errors import InputError
from winnow.strict import StrictModel

SECTION = ".note.winnow"
OWNER = b"Winnow\0"
NOTE_TYPE = 1
SCHEMA = 1

_NOTE_HEADER = struct.Struct("<III")
_SYMBOL_BYTES = 24


class NoteArgument(StrictModel):
    """One argument, as `code_object.Argument`."""

    kind: ArgumentKind
    size: int
    offset: int
    name: str
    type: str


class NoteToolchain(StrictModel):
    """The compiler that made the object."""

    kind: str
    version: str


class Note(StrictModel):
    """What the note holds. `flags` is the SHA-256 of the compiler's arguments."""

    schema_version: int
    symbol: str
    target: str
    arguments: list[NoteArgument]
    toolchain: NoteToolchain
    flags: str

    @property
    def signature(self) -> tuple[Argument, ...]:
        """The arguments as the rest of Winnow knows them."""
        return tuple(Argument(a.kind, a.size, a.offset, a.name, a.type) for a in self.arguments)


def encode_note(note: Note) -> bytes:
    """The note section's bytes: an ELF note header, the owner, and the note as msgpack, each padded to 4."""
    raw: bytes = msgpack.packb(note.model_dump())
    return _NOTE_HEADER.pack(len(OWNER), len(raw), NOTE_TYPE) + _padded(OWNER) + _padded(raw)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def read_note(payload: bytes) -> Note:
    """What an object says of itself.

    Raises:
        InputError: not a shared object for x86-64, malformed, or without a sound note.
    """
    return _decode(_sections(payload))


def read_back(payload: bytes, symbol: str) -> CodeObject:
    """The object of `payload` with target, signature and resources as they stand in its bytes.

    `resources` has `text_bytes`, `rodata_bytes`, `data_bytes` (initialised and zeroed), `kernel_bytes` (the code of
    `symbol` alone) and `needed_libraries`.

    Raises:
        InputError: not a shared object for x86-64, malformed, without a sound note, of another symbol, or the
            symbol is not a function that it exports.
    """
    sections = _sections(payload)
    note = _decode(sections)
    if note.symbol != symbol:
        raise InputError(f'the object holds the kernel "{note.symbol}", not "{symbol}"', cure="pack the catalog again")
    kernel_bytes = _function_bytes(sections, symbol)
    resources = {
        "text_bytes": _size(sections, ".text"),
        "rodata_bytes": sum(s["sh_size"] for name, s in sections.items() if name.startswith(".rodata")),
        "data_bytes": _size(sections, ".data") + _size(sections, ".bss"),
        "kernel_bytes": kernel_bytes,
        "needed_libraries": _needed_libraries(sections),
    }
    return CodeObject(note.target, symbol, payload, note.signature, resources)


def _malformed(problem: str) -> InputError:
    return InputError(f"malformed code object: {problem}", cure="pack the catalog again")


def _sections(payload: bytes) -> Mapping[str, Any]:
    """The object's sections by name, each known to lie inside the payload."""
    try:
        return _checked_sections(payload)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - the reader fails in many types on bytes that are not sound ELF
        raise _malformed(str(error) or type(error).__name__) from None


def _checked_sections(payload: bytes) -> Mapping[str, Any]:
    elf = ELFFile(io.BytesIO(payload))
    header = elf.header
    kind = (elf.elfclass, elf.little_endian, header["e_machine"], header["e_type"])
    if kind != (64, True, "EM_X86_64", "ET_DYN"):
        raise _malformed("it is not a shared object for x86-64")
    count, size = header["e_shnum"], header["e_shentsize"]
    if not count or size != 64 or header["e_shoff"] + count * size > len(payload):
        raise _malformed("its section table lies outside the file")
    sections: dict[str, Any] = {}
    for index in range(count):
        section = elf.get_section(index)
        in_file = 0 if section["sh_type"] == "SHT_NOBITS" else section["sh_size"]
        if section["sh_offset"] + in_file > len(payload):
            raise _malformed(f"section {index} lies outside the file")
        sections.setdefault(section.name, section)
    return sections


def _decode(sections: Mapping[str, Any]) -> Note:
    section = sections.get(SECTION)
    if section is None or section["sh_type"] != "SHT_NOTE":
        raise InputError(f"the object has no {SECTION} note", cure="only objects that Winnow compiled can be read")
    data: bytes = section.data()
    if len(data) < _NOTE_HEADER.size:
        raise _malformed("its note is cut off")
    owner_size, size, kind = _NOTE_HEADER.unpack_from(data)
    start = _NOTE_HEADER.size + len(_padded(OWNER))
    owner = data[_NOTE_HEADER.size : _NOTE_HEADER.size + owner_size]
    if (owner, kind) != (OWNER, NOTE_TYPE) or start + size > len(data) or len(data) - start - size > 3:
        raise _malformed("its note is not one of Winnow's")
    try:
        note = Note.model_validate(msgpack.unpackb(data[start : start + size]))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(key) for key in first["loc"])
        raise _malformed(f"its note does not fit at {where}: {first['msg']}") from None
    except ValueError as error:
        raise _malformed(f"its note is not msgpack: {error}") from None
    if note.schema_version != SCHEMA:
        raise _malformed(f"its note has the schema {note.schema_version}, this Winnow reads {SCHEMA}")
    if argument_layout(parameters_of(note.signature)) != note.signature:
        raise _malformed("its arguments do not lie as their types require")
    return note


def _size(sections: Mapping[str, Any], name: str) -> int:
    return int(sections[name]["sh_size"]) if name in sections else 0


def _function_bytes(sections: Mapping[str, Any], symbol: str) -> int:
    """Bytes of the exported function `symbol`."""
    table = sections.get(".dynsym")
    if table is None or table["sh_type"] != "SHT_DYNSYM" or table["sh_entsize"] != _SYMBOL_BYTES:
        raise _malformed("it has no table of exported symbols")
    try:
        for found in table.iter_symbols():
            exported = found["st_shndx"] != "SHN_UNDEF" and found["st_info"]["type"] == "STT_FUNC"
            if exported and found.name == symbol:
                return int(found["st_size"])
    except Exception as error:  # noqa: BLE001 - as in _sections
        raise _malformed(str(error) or type(error).__name__) from None
    raise InputError(f'the object does not export the function "{symbol}"', cure="pack the catalog again")


def _needed_libraries(sections: Mapping[str, Any]) -> int:
    section = sections.get(".dynamic")
    if section is None or section["sh_type"] != "SHT_DYNAMIC":
        raise _malformed("it has no dynamic section")
    entries = struct.iter_unpack("<qQ", section.data()[: section["sh_size"] // 16 * 16])
    return sum(1 for tag, _ in entries if tag == 1)
