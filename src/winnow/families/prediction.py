"""A rough model of one CPU core, from which families predict how kernels rank before anything was measured."""

from __future__ import annotations

from collections.abc import Mapping

from winnow.families.adapter import Field
from winnow.families.cpu import INT32_MAX

# A core of 2.5 GHz that starts two multiply-adds and two loads a cycle, each multiply-add of four cycles.
GIGAHERTZ = 2.5
BYTES_PER_CYCLE = 8.0
"""What one core reads from memory."""

_FMA_PER_CYCLE = 2
_FMA_LATENCY = 4
_LOADS_PER_CYCLE = 2
_HIDDEN = 0.9
_ROW_POINTERS = 10
"""Rows whose addresses fit the general registers; those of further rows are loaded too."""


def count(record: Mapping[str, Field], name: str, absent: int = 1) -> int:
    """A whole number from a record: what is missing, no number, or not from 1 to the largest size is `absent`."""
    value = record.get(name, absent)
    return int(value) if isinstance(value, int | float) and 1 <= value <= INT32_MAX else absent


def flag(record: Mapping[str, Field], name: str) -> bool:
    """Whether a record says yes; what is missing counts as no."""
    return bool(record.get(name, 0))


def blocks(size: int, step: int) -> int:
    """How many steps cover a size."""
    return -(-size // step)


def rounded(size: int, step: int) -> int:
    """A size rounded up to whole steps."""
    return blocks(size, step) * step


def multiply_cycles(products: float, vec: int, independent: int, loads_per_product: float) -> float:
    """Cycles for scalar products in vectors of `vec`: they wait for their sums or for loads, whichever is slower."""
    rate = min(_FMA_PER_CYCLE, independent / _FMA_LATENCY, _LOADS_PER_CYCLE / loads_per_product)
    return products / (vec * rate)


def tile_loads(reg_m: int, reg_v: int) -> float:
    """Loads for each vector product of a register tile: a line of vectors and an element of every row a step."""
    return (reg_m + reg_v + max(0, reg_m - _ROW_POINTERS)) / (reg_m * reg_v)


def overlapped(compute: float, memory: float) -> float:
    """The longer of the two hides most of the shorter one."""
    return max(compute, memory) + (1 - _HIDDEN) * min(compute, memory)
