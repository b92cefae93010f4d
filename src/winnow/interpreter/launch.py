"""What the interpreter is asked to run, and what it answers: plain values that cross to its process and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from winnow.compilers.source import TritonSource
from winnow.families.adapter import Operand


@dataclass(frozen=True)
class Memory:
    """A buffer as a kernel finds it: `elements` has one dim; `fence` of them at either end belong to no tensor.

    The kernel's pointer is to the first element after the fence.
    `type` is Triton's name of the elements' type; bf16 elements are the upper halves of fp32 ones, as `uint16`.
    """

    type: str
    elements: NDArray[Any]
    fence: int = 0


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel: every run-time argument of its signature by name, and the grid."""

    source: TritonSource
    grid: tuple[int, int, int]
    arguments: Mapping[str, Memory | int | float]


@dataclass(frozen=True)
class Interpreted:
    """What memory holds after a launch, by argument; `error` says why there is none."""

    memory: Mapping[str, NDArray[Any]]
    error: str = ""


def laid_out(elements: NDArray[Any], origin: int, operand: Operand) -> NDArray[Any]:
    """The operand's elements, of its logical dims, as they lie in `elements` from `origin` on: a view."""
    strides = tuple(stride * elements.itemsize for stride in operand.strides)
    return as_strided(elements[origin:], shape=operand.dims, strides=strides)
