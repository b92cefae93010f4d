"""What the GEMM kernels take, in the order of their argument block."""

from __future__ import annotations

from winnow.compilers.source import Parameter

FAMILY = "gemm"

PARAMETERS: tuple[Parameter, ...] = (
    *(Parameter(name, "ptr") for name in ("a", "b", "c")),
    *(Parameter(name, "i32") for name in ("batch", "m", "n", "k")),
    *(Parameter(f"stride_{dim}", "i64") for dim in ("ab", "am", "bb", "bk", "bn", "cb", "cm")),
)
"""Pointers, sizes, and strides in elements; A is contiguous along k, C along n."""
