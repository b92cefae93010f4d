"""Numbers and what memory holds of them: of the two 16-bit floating formats NumPy has one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.dtypes import FORMATS


def bfloat16_bits(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Bit patterns of the nearest bf16 numbers; a tie goes to the even one, a NaN stays a NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16
    return np.where(np.isnan(values), np.uint32(0x7FC0), rounded).astype(np.uint16)


def bfloat16_values(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The numbers that bit patterns of bf16 stand for."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def held(values: NDArray[Any], data_type: str) -> NDArray[Any]:
    """Numbers as memory holds them in a graph's data type: bf16 ones as bit patterns."""
    return bfloat16_bits(values) if FORMATS[data_type].held_as_bits else values


def numbers(elements: NDArray[Any], data_type: str) -> NDArray[Any]:
    """The numbers that elements in memory of a graph's data type stand for."""
    return bfloat16_values(elements) if FORMATS[data_type].held_as_bits else elements


def representable(values: NDArray[np.float32], data_type: str) -> NDArray[Any]:
    """The nearest numbers of a graph's data type, as NumPy holds them: bf16 ones as fp32."""
    if FORMATS[data_type].held_as_bits:
        return numbers(held(values, data_type), data_type)
    return values.astype(FORMATS[data_type].numpy)
