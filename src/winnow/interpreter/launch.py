"""What the interpreter is asked to run, and what it answers: plain values that cross to its process and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.compilers.source import TritonSource


@dataclass(frozen=True)
class Memory:
    """A buffer as a kernel finds it: `elements` has one dim; the kernel's pointer is to element `origin`.

    `type` is Triton's name of the elements' type; bf16 elements are the upper halves of fp32 ones, as `uint16`.
    """

    type: str
    elements: NDArray[Any]
    origin: int = 0


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


NUMPY_TYPES: Mapping[str, Any] = {"fp16": np.float16, "bf16": np.uint16, "fp32": np.float32}
"""Triton's types of elements as NumPy holds them."""
