"""Kernel sources as values: what a family's `build(spec, *, arch)` returns, one type a language."""

from __future__ import annotations

from dataclasses import dataclass

from winnow.dtypes import OF_TRITON


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


@dataclass(frozen=True)
class TritonSource:
    """A kernel in Triton.

    `text` is the text of a Python module that imports nothing but Triton and defines the jitted function `function`;
    the object exports it as `symbol`. `signature` gives the Triton type (`*fp16`, `fp32`, `i32`) of each run-time
    argument in order, `constexprs` the value of each compile-time one, `attributes` what the compiler may count on, as
    (argument, `tt.divisibility`, 16). `options` go to the target's backend, which refuses those that it does not have.
    """

    symbol: str
    text: str
    function: str
    signature: tuple[tuple[str, str], ...]
    constexprs: tuple[tuple[str, int | float | str | bool], ...]
    attributes: tuple[tuple[str, str, int], ...] = ()
    num_warps: int = 4
    num_stages: int = 1
    options: tuple[tuple[str, int | float | str | bool], ...] = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The run-time arguments in order, as every language states them."""
        return tuple(Parameter(name, _by_any_language(type_)) for name, type_ in self.signature)


def _by_any_language(triton: str) -> str:
    """The type of a parameter that Triton spells so; Triton's own spelling where no argument is of it."""
    known = OF_TRITON.get(triton)
    return "ptr" if triton.startswith("*") else known.argument or triton if known else triton
