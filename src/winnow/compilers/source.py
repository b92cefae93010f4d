"""Kernel sources as values: what a family's `build(spec, *, arch)` returns, one type a language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """One argument that a kernel declares: `type` is `ptr`, `i32`, `i64` or `f32`."""

    name: str
    type: str


@dataclass(frozen=True)
class CSource:
    """A kernel in C.

    The compiler puts a generated prelude in front of `text`: `struct winnow_args` made from `parameters`, the
    macro `WINNOW_SYMBOL` (the kernel's exported name), and one `#define` for each entry of `defines`. The text defines

        void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)

    which runs the whole grid on the calling thread. `flags` go to the compiler after its own.
    """

    symbol: str
    text: str
    parameters: tuple[Parameter, ...]
    defines: tuple[tuple[str, int | str], ...] = ()
    flags: tuple[str, ...] = ()
