"""The note that a CPU object carries about itself (`.note.winnow`), and reading an object back by it."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import msgpack
from elftools.elf.elffile import ELFFile
from pydantic import ValidationError

from winnow.compilers.code_object import Argument, ArgumentKind, CodeObject
from winnow.compilers.elf_file import PACK_AGAIN, reading
from winnow.compilers.layout import argument_layout, parameters_of
from winnow.errors import InputError
from winnow.strict.schema import StrictModel

SECTION = ".note.winnow"
OWNER = b"Winnow\0"
NOTE_TYPE = 1
SCHEMA = 1

_OBJECT = "code object"
_NOTE_HEADER = struct.Struct("<III")
# Elf64_Sym (name, info, other, section, value, size) and Elf64_Dyn (tag, value).
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<qQ")
_UNDEFINED, _FUNCTION, _NEEDED = 0, 2, 1


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


@dataclass(frozen=True)
class _Section:
    """One section of an object: its ELF type, its size in memory, and its bytes in the file."""

    type: str
    size: int
    data: bytes


def read_note(payload: bytes) -> Note:
    """What an object says of itself.

    Raises:
        InputError: not a shared object for x86-64, malformed, or without a sound note.
    """
    with reading(_OBJECT):
        return _note(_sections(payload))


def read_back(payload: bytes, symbol: str) -> CodeObject:
    """The object of `payload` with target, signature and resources as they stand in its bytes.

    `resources` has `text_bytes`, `rodata_bytes`, `data_bytes` (initialised and zeroed), `kernel_bytes` (the code of
    `symbol` alone) and `needed_libraries`.

    Raises:
        InputError: not a shared object for x86-64, malformed, without a sound note, of another symbol, or the
            symbol is not a function that it exports.
    """
    with reading(_OBJECT):
        return _read(payload, symbol)


def _read(payload: bytes, symbol: str) -> CodeObject:
    sections = _sections(payload)
    note = _note(sections)
    if note.symbol != symbol:
        raise InputError(f'the object holds the kernel "{note.symbol}", not "{symbol}"', cure=PACK_AGAIN)
    resources = {
        "text_bytes": _size(sections, ".text"),
        "rodata_bytes": _size(sections, ".rodata"),
        "data_bytes": _size(sections, ".data") + _size(sections, ".bss"),
        "kernel_bytes": _function_bytes(sections, symbol),
        "needed_libraries": _needed_libraries(sections),
    }
    return CodeObject(note.target, symbol, payload, note.signature, resources)


def _sections(payload: bytes) -> Mapping[str, _Section]:
    """The object's sections by name, each known to lie inside the payload."""
    elf = ELFFile(io.BytesIO(payload))
    header = elf.header
    kind = (elf.elfclass, elf.little_endian, header["e_machine"], header["e_type"])
    if kind != (64, True, "EM_X86_64", "ET_DYN"):
        raise ValueError("it is not a shared object for x86-64")
    count, entry_bytes = header["e_shnum"], header["e_shentsize"]
    if not count or entry_bytes != 64 or header["e_shoff"] + count * entry_bytes > len(payload):
        raise ValueError("its section table lies outside the file")
    sections: dict[str, _Section] = {}
    for index in range(count):
        found = elf.get_section(index)
        size, start = found["sh_size"], found["sh_offset"]
        stored = 0 if found["sh_type"] == "SHT_NOBITS" else size
        if start + stored > len(payload):
            raise ValueError(f"section {index} lies outside the file")
        if found.name in sections:
            raise ValueError(f'it has two sections "{found.name}"')
        sections[found.name] = _Section(str(found["sh_type"]), size, payload[start : start + stored])
    return sections


def _note(sections: Mapping[str, _Section]) -> Note:
    section = sections.get(SECTION)
    if section is None or section.type != "SHT_NOTE":
        raise InputError(f"the object has no {SECTION} note", cure="only objects that Winnow compiled can be read")
    described = _described(section.data)
    try:
        note = Note.model_validate(msgpack.unpackb(described))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(key) for key in first["loc"])
        raise ValueError(f"its note does not fit at {where}: {first['msg']}") from None
    except ValueError as error:
        raise ValueError(f"its note is not msgpack: {error}") from None
    if note.schema_version != SCHEMA:
        raise ValueError(f"its note has the schema {note.schema_version}, this Winnow reads {SCHEMA}")
    if argument_layout(parameters_of(note.signature)) != note.signature:
        raise ValueError("its arguments do not lie as their types require")
    return note


def _described(data: bytes) -> bytes:
    """The descriptor of a section that holds exactly one note of Winnow's."""
    head = _NOTE_HEADER.size + len(_padded(OWNER))
    if len(data) < head:
        raise ValueError("its note is cut off")
    owner_size, size, kind = _NOTE_HEADER.unpack_from(data)
    if (data[_NOTE_HEADER.size : _NOTE_HEADER.size + owner_size], kind) != (OWNER, NOTE_TYPE):
        raise ValueError("its note is not one of Winnow's")
    described = data[head : head + size]
    if len(described) != size or len(data) != head + len(_padded(described)):
        raise ValueError("its note has another size than it says")
    return described


def _size(sections: Mapping[str, _Section], name: str) -> int:
    """Bytes of the section and of its parts (`.rodata.cst4`)."""
    return sum(s.size for other, s in sections.items() if other == name or other.startswith(f"{name}."))


def _function_bytes(sections: Mapping[str, _Section], symbol: str) -> int:
    """Bytes of the exported function `symbol`."""
    table, names = _table(sections, ".dynsym", "SHT_DYNSYM"), _table(sections, ".dynstr", "SHT_STRTAB")
    wanted = symbol.encode() + b"\0"
    for name, info, _, section, _, size in _SYMBOL.iter_unpack(_whole(table, _SYMBOL.size)):
        if section != _UNDEFINED and info & 0xF == _FUNCTION and names[name : name + len(wanted)] == wanted:
            return int(size)
    raise InputError(f'the object does not export the function "{symbol}"', cure=PACK_AGAIN)


def _needed_libraries(sections: Mapping[str, _Section]) -> int:
    entries = _DYNAMIC.iter_unpack(_whole(_table(sections, ".dynamic", "SHT_DYNAMIC"), _DYNAMIC.size))
    return sum(1 for tag, _ in entries if tag == _NEEDED)


def _table(sections: Mapping[str, _Section], name: str, kind: str) -> bytes:
    section = sections.get(name)
    if section is None or section.type != kind:
        raise ValueError(f"it has no {name}")
    return section.data


def _whole(data: bytes, entry_bytes: int) -> bytes:
    return data[: len(data) // entry_bytes * entry_bytes]
