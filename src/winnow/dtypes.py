"""Number formats: what graphs, kernels, C and NumPy call each, and its size. One row a format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class NumberFormat:
    """One format of numbers. A name that is empty means that nothing there has the format.

    `unit_roundoff` is the largest relative error of rounding a number to the format; 0 for integers.
    """

    name: str
    bits: int
    numpy: str
    """NumPy's name of what memory holds; NumPy has no bfloat16, so that is held as its bits."""
    unit_roundoff: float = 0.0
    held_as_bits: bool = False
    """Whether an element that NumPy holds is a bit pattern, not the number."""
    in_graphs: bool = True
    """Whether a graph's tensors may be of the format under `name`."""
    triton: str = ""
    """Triton's name, for formats whose pointers Triton kernels here may take."""
    argument: str = ""
    """Name as the type of an argument that is passed by value."""
    c: str = ""
    """C's name of the argument's type."""
    struct: str = ""
    """Format of the argument for `struct`."""
    ctypes: str = ""
    """Name of the argument's type in `ctypes`."""

    @property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return self.bits // 8

    @property
    def integer(self) -> bool:
        """Whether it holds whole numbers only."""
        return self.unit_roundoff == 0.0


_ROWS = (
    NumberFormat(
        "float",
        32,
        "float32",
        unit_roundoff=2.0**-24,
        triton="fp32",
        argument="f32",
        c="float",
        struct="<f",
        ctypes="c_float",
    ),
    NumberFormat("half", 16, "float16", unit_roundoff=2.0**-11, triton="fp16"),
    NumberFormat("bfloat16", 16, "uint16", unit_roundoff=2.0**-8, held_as_bits=True, triton="bf16"),
    NumberFormat("double", 64, "float64", unit_roundoff=2.0**-53),
    NumberFormat("int8", 8, "int8", triton="i8"),
    NumberFormat("int32", 32, "int32", triton="i32", argument="i32", c="int32_t", struct="<i", ctypes="c_int32"),
    NumberFormat("uint8", 8, "uint8"),
    NumberFormat(
        "int64", 64, "int64", in_graphs=False, triton="i64", argument="i64", c="int64_t", struct="<q", ctypes="c_int64"
    ),
)

FORMATS: Mapping[str, NumberFormat] = MappingProxyType({row.name: row for row in _ROWS})
"""Every format by its name in graphs."""

OF_TRITON: Mapping[str, NumberFormat] = MappingProxyType({row.triton: row for row in _ROWS if row.triton})
"""Formats by Triton's name."""

OF_ARGUMENTS: Mapping[str, NumberFormat] = MappingProxyType({row.argument: row for row in _ROWS if row.argument})
"""Formats that a kernel may take by value, by the argument's type."""
