"""Small Triton kernels that the tests of the compiler and of the pack share."""

from __future__ import annotations

from winnow.compilers.source import TritonSource

TEXT = """
import triton
import triton.language as tl


@triton.jit
def product(x_ptr, y_ptr, shift, scale, SIZE: tl.constexpr):
    rows, columns = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    a = tl.load(x_ptr + rows * SIZE + columns)
    b = tl.load(x_ptr + shift + rows * SIZE + columns)
    tl.store(y_ptr + rows * SIZE + columns, tl.dot(a, b) * scale)
"""

ATTRIBUTES = (("x_ptr", "tt.divisibility", 16), ("y_ptr", "tt.divisibility", 16))


def product(symbol: str = "product_64", size: int = 64, text: str = TEXT, **changes: object) -> TritonSource:
    """A product of two matrices by one workgroup; `changes` are fields of the source."""
    fields: dict[str, object] = {
        "symbol": symbol,
        "text": text,
        "function": "product",
        "signature": (("x_ptr", "*fp16"), ("y_ptr", "*fp32"), ("shift", "i32"), ("scale", "fp32")),
        "constexprs": (("SIZE", size),),
        "attributes": ATTRIBUTES,
    }
    return TritonSource(**(fields | changes))  # type: ignore[arg-type]
