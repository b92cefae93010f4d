"""Opening an ELF file from an archive, which may be any bytes: nothing that it claims lies outside them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

from elftools.elf.elffile import ELFFile

from winnow.errors import InputError

PACK_AGAIN = "pack the catalog again"
_SECTION_BYTES = 64


@contextlib.contextmanager
def reading(what: str) -> Iterator[None]:
    """Reading a `what` whose bytes may be unsound, on which elftools and msgpack fail in many types.

    Raises:
        InputError: for every exception inside that is not one already: the `what` is malformed, and how.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - the readers raise whatever comes to them
        raise InputError(f"malformed {what}: {str(error) or type(error).__name__}", cure=PACK_AGAIN) from None


def is_elf(payload: bytes, machine: int) -> bool:
    """Whether the bytes claim to be an ELF file for a machine (`e_machine`)."""
    return payload[:4] == b"\x7fELF" and int.from_bytes(payload[18:20], "little") == machine


def open_elf(payload: bytes) -> ELFFile:
    """The file, with every section known to lie inside the payload.

    Raises:
        ValueError: a section, or a table of sections or segments, lies outside it. On unsound bytes elftools raises
            further types.
    """
    elf = ELFFile(io.BytesIO(payload))
    header = elf.header
    if header["e_shentsize"] != _SECTION_BYTES or not header["e_shnum"]:
        raise ValueError("it has no table of sections")
    if header["e_shoff"] + header["e_shnum"] * _SECTION_BYTES > len(payload):
        raise ValueError("its table of sections lies outside the file")
    if header["e_phoff"] + header["e_phnum"] * header["e_phentsize"] > len(payload):
        raise ValueError("its table of segments lies outside the file")
    for i, section in enumerate(elf.iter_sections()):
        if section["sh_type"] != "SHT_NOBITS" and section["sh_offset"] + section["sh_size"] > len(payload):
            raise ValueError(f"section {i} lies outside the file")
    return elf
