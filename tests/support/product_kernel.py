"""The smallest kernel to interpret: a product of two matrices of bf16, and versions of it that misbehave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rdna_kernels import changed

from winnow.compilers.source import TritonSource
from winnow.families.halves import bfloat16_bits
from winnow.interpreter import Interpreted, Launch, Memory, interpreter

DOT = """
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, SIZE: tl.constexpr):
    index = tl.arange(0, SIZE)
    at = index[:, None] * SIZE + index[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))
"""
PRODUCT = TritonSource("product", DOT, "product", (("a", "*bf16"), ("b", "*bf16"), ("c", "*fp32")), (("SIZE", 16),))


def product_of(source: TritonSource = PRODUCT) -> Launch:
    a, b = (np.arange(256, dtype=np.float32).reshape(16, 16) % n - 3 for n in (7, 5))
    memory = {
        "a": Memory("bf16", bfloat16_bits(a).reshape(-1)),
        "b": Memory("bf16", bfloat16_bits(b).reshape(-1)),
        "c": Memory("fp32", np.zeros(256, np.float32)),
    }
    return Launch(source, (1, 1, 1), memory)


def product_with(old: str, new: str) -> Launch:
    """A launch of the kernel with other text in a place that is there once."""
    return product_of(changed(PRODUCT, [(old, new)]))


def beginning_with(statement: str) -> Launch:
    """A launch that executes this first."""
    begin = "    index = tl.arange(0, SIZE)\n"
    return product_with(begin, f"    {statement}\n{begin}")


def hanging(marker: Path) -> Launch:
    """A launch that never ends; `marker` holds its process and that process's parent."""
    unfinished = str(marker.with_suffix(".unfinished"))
    return beginning_with(
        f"os = __import__('os'); print(os.getpid(), os.getppid(), file=open({unfinished!r}, 'w'), flush=True); "
        f"os.rename({unfinished!r}, {str(marker)!r}); __import__('time').sleep(600)"
    )


def answers_of(*launches: Launch) -> list[Interpreted]:
    with interpreter() as interpret:
        return [interpret(launch) for launch in launches]
