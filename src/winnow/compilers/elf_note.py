"""The note that a CPU object carries about itself (`.note.winnow`), and reading an object back by it."""

from __future__ import annotations

import struct
from typing import Any

import msgpack
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection
from pydantic import ValidationError

from winnow.compilers.code_object import Argument, ArgumentKind, CodeObject
from winnow.compilers.elf_file import PACK_AGAIN, open_elf, reading
from winnow.compilers.layout import argument_layout, parameters_of
from winnow.errors import InputError
from winnow.strict.schema import StrictModel

SECTION = ".note.winnow"
OWNER = b"Winnow\0"
NOTE_TYPE = 1
SCHEMA = 1

_OBJECT = "code object"
_NOTE_HEADER = struct.Struct("<III")


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
    return _framed(msgpack.packb(note.model_dump()))


def _framed(described: bytes) -> bytes:
    return _NOTE_HEADER.pack(len(OWNER), len(described), NOTE_TYPE) + _padded(OWNER) + _padded(described)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def read_note(payload: bytes) -> Note:
    """What an object says of itself.

    Raises:
        InputError: not a shared object for x86-64, malformed, or without a sound note.
    """
    with reading(_OBJECT):
        return _note(_opened(payload))


def read_back(payload: bytes, symbol: str) -> CodeObject:
    """The object of `payload` with target, signature and resources as they stand in its bytes.

    `resources` has `text_bytes`, `rodata_bytes`, `data_bytes` (initialised and zeroed), `kernel_bytes` (the code of
    `symbol` alone) and `needed_libraries`.

    Raises:
        InputError: not a shared object for x86-64, malformed, without a sound note, of another symbol, or the
            symbol is not a function that it exports.
    """
    with reading(_OBJECT):
        elf = _opened(payload)
        note = _note(elf)
        if note.symbol != symbol:
            raise InputError(f'the object holds the kernel "{note.symbol}", not "{symbol}"', cure=PACK_AGAIN)
        resources = {
            "text_bytes": _size(elf, ".text"),
            "rodata_bytes": _size(elf, ".rodata"),
            "data_bytes": _size(elf, ".data") + _size(elf, ".bss"),
            "kernel_bytes": _function_bytes(elf, symbol),
            "needed_libraries": _needed_libraries(elf),
        }
        return CodeObject(note.target, symbol, payload, note.signature, resources)


def _opened(payload: bytes) -> ELFFile:
    """The object, with every section known to lie inside the payload and to be the only one of its name."""
    elf = open_elf(payload)
    if (elf.elfclass, elf.little_endian, elf["e_machine"], elf["e_type"]) != (64, True, "EM_X86_64", "ET_DYN"):
        raise ValueError("it is not a shared object for x86-64")
    seen: set[str] = set()
    for section in elf.iter_sections():
        if section.name in seen:
            raise ValueError(f'it has two sections "{section.name}"')
        seen.add(section.name)
    return elf


def _note(elf: ELFFile) -> Note:
    section = elf.get_section_by_name(SECTION)
    if not isinstance(section, NoteSection):
        raise InputError(f"the object has no {SECTION} note", cure="only objects that Winnow compiled can be read")
    described = _described(section)
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


def _described(section: NoteSection) -> bytes:
    """The descriptor of a section that holds exactly one note, with Winnow's type and owner."""
    first = next(section.iter_notes(), None)
    if first is None:
        raise ValueError("its note is cut off")
    described: bytes = first["n_descdata"]
    raw, written = section.data(), _framed(described)
    kind = slice(_NOTE_HEADER.size - 4, _NOTE_HEADER.size + len(_padded(OWNER)))
    if raw[kind] != written[kind]:
        raise ValueError("its note is not one of Winnow's")
    if raw != written:
        raise ValueError("its note has another size than it says")
    return described


def _size(elf: ELFFile, name: str) -> int:
    """Bytes of the section and of its parts (`.rodata.cst4`)."""
    parts = (s for s in elf.iter_sections() if s.name == name or s.name.startswith(f"{name}."))
    return sum(int(section["sh_size"]) for section in parts)


def _function_bytes(elf: ELFFile, symbol: str) -> int:
    """Bytes of the exported function `symbol`."""
    for entry in _section(elf, ".dynsym", SymbolTableSection).get_symbol_by_name(symbol) or ():
        if entry["st_shndx"] != "SHN_UNDEF" and entry["st_info"]["type"] == "STT_FUNC":
            return int(entry["st_size"])
    raise InputError(f'the object does not export the function "{symbol}"', cure=PACK_AGAIN)


def _needed_libraries(elf: ELFFile) -> int:
    tags = _section(elf, ".dynamic", DynamicSection).iter_tags("DT_NEEDED")
    return sum(1 for _ in tags)


def _section(elf: ELFFile, name: str, kind: type[Any]) -> Any:
    section = elf.get_section_by_name(name)
    if not isinstance(section, kind):
        raise ValueError(f"it has no {name}")
    return section
