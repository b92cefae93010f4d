"""Packing a launch's arguments by the kernel's signature; nothing that does not fit reaches the kernel."""

from __future__ import annotations

import numbers
import operator
import struct
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from winnow.compilers.code_object import Argument
from winnow.compilers.layout import block_size
from winnow.devices.device import Grid
from winnow.devices.guarded_memory import GuardedBuffer
from winnow.dtypes import OF_ARGUMENTS
from winnow.errors import InputError, nearest

_GRID_MAX = 2**31 - 1


@dataclass(frozen=True)
class ArgumentBlock:
    """The block's bytes, with zeros where a pointer belongs, and which buffer's address goes to which offset."""

    data: bytes
    pointers: tuple[tuple[int, GuardedBuffer], ...]


def pack_arguments(
    symbol: str,
    signature: Sequence[Argument],
    arguments: Mapping[str, Any],
    buffers: Container[GuardedBuffer],
    nulls: Container[str] = (),
) -> ArgumentBlock:
    """The argument block of one launch. `buffers` are the device's own; pointers in `nulls` are null when absent.

    Raises:
        InputError: a name is missing or unknown, a pointer's value is not a live buffer of the device, or a number's
            value is not of its type or does not fit into it.
    """
    names = [argument.name for argument in signature]
    for name in arguments:
        if name not in names:
            raise InputError(f'kernel "{symbol}" has no argument "{name}"', cure=nearest(name, names))
    block = bytearray(block_size(signature))
    pointers: list[tuple[int, GuardedBuffer]] = []
    for argument in signature:
        if argument.name not in arguments:
            if argument.name in nulls:
                continue
            raise InputError(f'kernel "{symbol}": the argument "{argument.name}" is missing')
        value = arguments[argument.name]
        if argument.kind == "global_buffer":
            pointers.append((argument.offset, _buffer(symbol, argument, value, buffers)))
        else:
            try:
                struct.pack_into(OF_ARGUMENTS[argument.type].struct, block, argument.offset, _number(argument, value))
            except (struct.error, OverflowError, TypeError):
                raise _unfit(symbol, argument, value, argument.type) from None
    return ArgumentBlock(bytes(block), tuple(pointers))


def _buffer(symbol: str, argument: Argument, value: Any, buffers: Container[GuardedBuffer]) -> GuardedBuffer:
    if not isinstance(value, GuardedBuffer) or value.freed or value not in buffers:
        raise _unfit(symbol, argument, value, "live buffer of this device")
    return value


def _number(argument: Argument, value: Any) -> int | float:
    """Raises TypeError for what only looks like a number of the argument's type: `True`, or 2.0 for an integer."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError
    return operator.index(value) if OF_ARGUMENTS[argument.type].integer else float(value)  # type: ignore[arg-type]


def _unfit(symbol: str, argument: Argument, value: Any, wanted: str) -> InputError:
    shown = repr(value) if isinstance(value, (numbers.Number, str)) else f"a {type(value).__name__}"
    return InputError(f'kernel "{symbol}": the argument "{argument.name}" must be a {wanted} (value: {shown})')


def checked_grid(symbol: str, grid: Grid) -> list[int]:
    """The grid as plain integers.

    Raises:
        InputError: not three integers from 1 to 2^31 - 1.
    """
    if len(grid) != 3 or not all(isinstance(n, numbers.Integral) and 1 <= n <= _GRID_MAX for n in grid):
        raise InputError(f'kernel "{symbol}": a grid is three integers from 1 to {_GRID_MAX} (value: {grid!r})')
    return [int(n) for n in grid]
