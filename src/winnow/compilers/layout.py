"""Where each kernel argument lies in the argument block: the one place that knows the types' sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from winnow.compilers.code_object import Argument, ArgumentKind
from winnow.compilers.source import Parameter
from winnow.dtypes import OF_ARGUMENTS
from winnow.errors import InputError, nearest


@dataclass(frozen=True)
class ArgumentType:
    """One type that a parameter may have: its size (and alignment) in bytes and its spelling in C."""

    kind: ArgumentKind
    size: int
    spelling: str


ARGUMENT_TYPES: dict[str, ArgumentType] = {
    "ptr": ArgumentType("global_buffer", 8, "void *"),
    **{name: ArgumentType("by_value", row.bytes, row.c) for name, row in OF_ARGUMENTS.items()},
}


def argument_layout(parameters: Sequence[Parameter]) -> tuple[Argument, ...]:
    """The arguments with the offsets that a C struct of these members has (natural alignment, in order).

    Raises:
        InputError: an unknown type, or the same name twice.
    """
    arguments: list[Argument] = []
    end = 0
    for parameter in parameters:
        known = ARGUMENT_TYPES.get(parameter.type)
        if known is None:
            raise InputError(
                f'parameter "{parameter.name}" has the unknown type "{parameter.type}"',
                cure=nearest(parameter.type, ARGUMENT_TYPES),
            )
        if any(parameter.name == other.name for other in arguments):
            raise InputError(f'two parameters have the name "{parameter.name}"', cure="rename one of the two")
        offset = _aligned(end, known.size)
        written = "" if known.kind == "global_buffer" else parameter.type
        arguments.append(Argument(known.kind, known.size, offset, parameter.name, written))
        end = offset + known.size
    return tuple(arguments)


def parameters_of(arguments: Sequence[Argument]) -> tuple[Parameter, ...]:
    """The parameters that an argument list was laid out from."""
    return tuple(Parameter(a.name, a.type or "ptr") for a in arguments)


def block_size(arguments: Sequence[Argument]) -> int:
    """Bytes of the whole argument block: the size of the C struct, with its padding at the end."""
    end = max((a.offset + a.size for a in arguments), default=0)
    return _aligned(end, max((a.size for a in arguments), default=1))


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
