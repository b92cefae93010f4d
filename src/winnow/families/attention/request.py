"""What a caller asks of the attention family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from winnow.registry import OperatorRequest

HEAD_SIZES = (64, 128)
"""Elements of a head that kernels are written for."""


@dataclass(frozen=True, kw_only=True)
class AttentionRequest(OperatorRequest):
    """softmax(scale · Q·Kᵀ)·V in fp32, where `num_query_heads / num_kv_heads` query heads share a key head.

    `causal` is 0 or 1 (a bool will do); where the causal diagonal lies is said at run time.
    """

    num_query_heads: int
    num_kv_heads: int
    seqlen_q: int
    seqlen_kv: int
    head_size: int
    causal: int = 0
    batch: int = 1
    dtype: str = "fp32"

    def __post_init__(self) -> None:
        object.__setattr__(self, "causal", int(self.causal))

    def dims(self) -> Mapping[str, int]:
        """The sizes by name."""
        return {
            "batch": self.batch,
            "num_query_heads": self.num_query_heads,
            "num_kv_heads": self.num_kv_heads,
            "seqlen_q": self.seqlen_q,
            "seqlen_kv": self.seqlen_kv,
            "head_size": self.head_size,
        }

    def features(self) -> frozenset[str]:
        """`causal` where keys are masked, `gqa` where query heads share key heads."""
        asked = {"causal": self.causal == 1, "gqa": self.num_query_heads != self.num_kv_heads}
        return frozenset(name for name, wanted in asked.items() if wanted)

    def problem(self) -> str | None:
        """What is wrong with the request itself, or None."""
        if self.causal not in (0, 1):
            return f"causal={self.causal} is not 0 or 1"
        return None
