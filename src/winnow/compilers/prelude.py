"""The C text that goes in front of every kernel: its argument struct, its defines and the note about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from winnow.compilers.code_object import Argument
from winnow.compilers.elf_note import SECTION
from winnow.compilers.layout import ARGUMENT_TYPES, block_size
from winnow.compilers.source import CSource
from winnow.errors import InputError

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BYTES_A_LINE = 32

_SIGNATURE = "void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)"


def with_prelude(source: CSource, arguments: Sequence[Argument], note: bytes) -> str:
    """The whole C text of a kernel. Compilers report lines of `source.text` as lines of `<symbol>.c`.

    Raises:
        InputError: the symbol, a parameter or a define is not a C identifier, or a define spans lines.
    """
    parts = [
        "#include <stddef.h>",
        "#include <stdint.h>",
        f"#define WINNOW_SYMBOL {_identifier('symbol', source.symbol)}",
        *(_define(name, value) for name, value in source.defines),
        *_struct(arguments),
        f'__attribute__((visibility("default"))) {_SIGNATURE};',
        *_note_section(note),
        f'#line 1 "{source.symbol}.c"',
        source.text,
    ]
    return "\n".join(parts) + "\n"


def _identifier(what: str, name: str) -> str:
    if not _IDENTIFIER.fullmatch(name):
        raise InputError(f'the {what} "{name}" is not a C identifier', cure="use letters, digits and underscores")
    return name


def _define(name: str, value: int | str) -> str:
    text = f"{value:d}" if isinstance(value, int) else value
    if "\n" in text:
        raise InputError(f'the define "{name}" spans lines', cure="put the code into the kernel's text")
    return f"#define {_identifier('define', name)} {text}"


def _struct(arguments: Sequence[Argument]) -> list[str]:
    """The struct, with assertions that it lies in memory as the note says."""
    lines = ["struct winnow_args {"]
    for a in arguments:
        spelling = ARGUMENT_TYPES[a.type or "ptr"].spelling
        lines.append(f"  {spelling} {_identifier('parameter', a.name)};")
    lines.append("};")
    asserted = [(f"offsetof(struct winnow_args, {a.name})", a.offset) for a in arguments]
    asserted.append(("sizeof(struct winnow_args)", block_size(arguments)))
    return [*lines, *(f'_Static_assert({what} == {value}, "{what}");' for what, value in asserted)]


def _note_section(note: bytes) -> list[str]:
    """As assembly, because a C attribute would give the section the type of plain data."""
    rows = [note[i : i + _BYTES_A_LINE] for i in range(0, len(note), _BYTES_A_LINE)]
    return [
        f'__asm__(".pushsection {SECTION},\\"a\\",@note\\n"',
        '        ".balign 4\\n"',
        *(f'        ".byte {",".join(str(byte) for byte in row)}\\n"' for row in rows),
        '        ".popsection\\n");',
    ]
