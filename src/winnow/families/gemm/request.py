"""What a caller asks of the GEMM family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from winnow.registry import OperatorRequest

B_LAYOUTS = ("row", "col")
"""How B lies in memory: contiguous along n (`row`) or along k (`col`)."""


@dataclass(frozen=True, kw_only=True)
class GemmRequest(OperatorRequest):
    """C[batch][m][n] = A[batch][m][k] · B[batch][k][n] in fp32."""

    m: int
    n: int
    k: int
    batch: int = 1
    b_layout: str = "row"
    dtype: str = "fp32"

    def dims(self) -> Mapping[str, int]:
        """The four sizes."""
        return {"batch": self.batch, "M": self.m, "N": self.n, "K": self.k}

    def features(self) -> frozenset[str]:
        """`batched` where there is more than one product."""
        return frozenset({"batched"} if self.batch > 1 else ())

    def problem(self) -> str | None:
        """What is wrong with the request itself, or None."""
        if self.b_layout not in B_LAYOUTS:
            return f'b_layout "{self.b_layout}" is not one of {", ".join(B_LAYOUTS)}'
        return None
