"""Triton 3.9.0 multiplies bf16 matrices by their bit patterns when it interprets: the product, done right."""

from __future__ import annotations

from typing import Any

import numpy as np


def mend_dot() -> None:
    """From here on `tl.dot` of bf16 operands is that of their values, added up in the accumulator's type."""
    import triton.language as tl
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    original = InterpreterBuilder.create_dot

    def widened(operand: Any) -> Any:
        if operand.dtype.scalar != tl.bfloat16 or operand.data.dtype != np.uint16:
            return operand
        return TensorHandle((operand.data.astype(np.uint32) << 16).view(np.float32), tl.float32)

    def create_dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        return original(self, widened(a), widened(b), *rest)

    InterpreterBuilder.create_dot = create_dot
