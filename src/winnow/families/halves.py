"""The two 16-bit floating types on the host: NumPy has one of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT_ROUNDOFF: Mapping[str, float] = MappingProxyType({"half": 2.0**-11, "bfloat16": 2.0**-8})
"""Largest relative error of rounding a number to the type, by the graph's name of it."""


def bfloat16_bits(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Bit patterns of the nearest bf16 numbers; a tie goes to the even one, a NaN stays a NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16
    return np.where(np.isnan(values), np.uint32(0x7FC0), rounded).astype(np.uint16)


def bfloat16_values(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The numbers that bit patterns of bf16 stand for."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def representable(values: NDArray[np.float32], data_type: str) -> NDArray[Any]:
    """The nearest numbers of a graph's data type, as NumPy holds them: bf16 ones as fp32."""
    if data_type == "bfloat16":
        return bfloat16_values(bfloat16_bits(values))
    return values.astype({"half": np.float16, "float": np.float32}[data_type])
