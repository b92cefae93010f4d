"""What an NVIDIA code object says of itself: parameters and registers from its sections, names from Winnow's note."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgpack
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from pydantic import ValidationError

from winnow.compilers.code_object import Argument, CodeObject
from winnow.compilers.elf_file import PACK_AGAIN, is_elf, open_elf, reading
from winnow.errors import InputError
from winnow.strict.schema import StrictModel

NOTE_SYMBOL = "winnow_note"
"""The global variable that holds the note."""

SCHEMA = 1

_OBJECT = "NVIDIA code object"
_MACHINE = 190
# The processor moved by a byte in the flags with this version of the object's form.
_SHIFTED_ABI = 8
# Entries of .nv.info (the names are those of cuobjdump).
_SIZED, _FRAME_SIZE, _PARAMETER, _REGISTERS = 4, 0x11, 0x17, 0x2F
_PARAMETER_ENTRY = struct.Struct("<IHHI")
_PARAMETER_SIZE_SHIFT = 18


class _Note(StrictModel):
    schema_version: int
    symbol: str
    target: str
    arguments: list[list[str]]
    dynamic_lds_bytes: int
    threads_per_block: int
    matrix_instructions: int


def is_nvidia_object(payload: bytes) -> bool:
    """Whether the bytes claim to be an ELF file for NVIDIA GPUs."""
    return is_elf(payload, _MACHINE)


def read_nvidia_object(payload: bytes, symbol: str) -> CodeObject:
    """The object of `payload` with target, signature and resources as they stand in its bytes.

    `resources`: `lds_bytes` (shared memory, all of it dynamic: a launcher must ask for it), `threads_per_block`,
    `wave_size`, `vgprs` (registers a thread), `scratch_bytes` (stack a thread, spills included), `code_bytes` and
    `matrix_instructions`.

    Raises:
        InputError: not an NVIDIA code object, malformed, not made by Winnow, or without that kernel.
    """
    with reading(_OBJECT):
        return _read(payload, symbol)


def noted_symbol(payload: bytes) -> str:
    """The name of the kernel that an object of Winnow's holds. Raises InputError as `read_nvidia_object` does."""
    with reading(_OBJECT):
        return _note(_elf(payload)).symbol


def _elf(payload: bytes) -> ELFFile:
    if not is_nvidia_object(payload):
        raise ValueError("it is not an ELF file for NVIDIA GPUs")
    return open_elf(payload)


def _read(payload: bytes, symbol: str) -> CodeObject:
    elf = _elf(payload)
    note = _note(elf)
    if note.symbol != symbol:
        raise InputError(f'the object holds the kernel "{note.symbol}", not "{symbol}"', cure=PACK_AGAIN)
    flags = elf.header["e_flags"]
    shift = 8 if elf.header["e_ident"]["EI_ABIVERSION"] >= _SHIFTED_ABI else 0
    target = f"sm_{(flags >> shift) & 0xFF}"
    index, code_bytes = _kernel(elf, symbol)
    resources = {
        "lds_bytes": note.dynamic_lds_bytes,
        "threads_per_block": note.threads_per_block,
        "wave_size": 32,
        "vgprs": _of_kernel(elf, _REGISTERS, index),
        "scratch_bytes": _of_kernel(elf, _FRAME_SIZE, index),
        "code_bytes": code_bytes,
        "matrix_instructions": note.matrix_instructions,
    }
    return CodeObject(target, symbol, payload, _signature(elf, note), resources)


def _note(elf: ELFFile) -> _Note:
    for name, section, start, size in _symbols(elf):
        if name == NOTE_SYMBOL:
            data = elf.get_section(section).data()[start : start + size]
            try:
                note = _Note.model_validate(msgpack.unpackb(data))
            except ValidationError as error:
                raise ValueError(f"its note does not fit: {error.errors(include_url=False)[0]['msg']}") from None
            if note.schema_version != SCHEMA:
                raise ValueError(f"its note has the schema {note.schema_version}, this Winnow reads {SCHEMA}")
            return note
    raise InputError("the object has no note of Winnow's", cure="only objects that Winnow compiled can be read")


def _symbols(elf: ELFFile) -> Iterator[tuple[str, int, int, int]]:
    for table in elf.iter_sections():
        if isinstance(table, SymbolTableSection):
            for entry in table.iter_symbols():
                if isinstance(entry["st_shndx"], int):
                    yield entry.name, entry["st_shndx"], entry["st_value"], entry["st_size"]


def _kernel(elf: ELFFile, symbol: str) -> tuple[int, int]:
    """The index of a kernel's symbol, and the bytes of its code."""
    table = elf.get_section_by_name(".symtab")
    for i, entry in enumerate(table.iter_symbols() if isinstance(table, SymbolTableSection) else ()):
        if entry.name == symbol and entry["st_info"]["type"] == "STT_FUNC":
            return i, int(entry["st_size"])
    raise ValueError(f'it exports no code called "{symbol}"')


def _entries(elf: ELFFile, section: str) -> Iterator[tuple[int, bytes]]:
    """(attribute, data) of every entry with a size of a section of attributes."""
    found = elf.get_section_by_name(section)
    data: bytes = b"" if found is None else found.data()
    at = 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == _SIZED:
            yield attribute, data[at : at + size]
            at += size


def _of_kernel(elf: ELFFile, wanted: int, index: int) -> int:
    for attribute, data in _entries(elf, ".nv.info"):
        if attribute == wanted and struct.unpack_from("<I", data)[0] == index:
            return int(struct.unpack_from("<I", data, 4)[0])
    raise ValueError(f"it does not state attribute {wanted:#x} of its kernel")


def _signature(elf: ELFFile, note: _Note) -> tuple[Argument, ...]:
    """The parameters as the object lays them out, with the names and types that the note gives."""
    entries = _entries(elf, f".nv.info.{note.symbol}")
    laid_out = sorted(_PARAMETER_ENTRY.unpack(data)[1:] for attribute, data in entries if attribute == _PARAMETER)
    if len(laid_out) != len(note.arguments):
        raise ValueError(f"it takes {len(laid_out)} parameters, its note names {len(note.arguments)}")
    return tuple(
        Argument("by_value" if written else "global_buffer", packed >> _PARAMETER_SIZE_SHIFT, offset, name, written)
        for (_, offset, packed), (name, written) in zip(laid_out, note.arguments, strict=True)
    )
