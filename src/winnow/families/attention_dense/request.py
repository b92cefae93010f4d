"""What a caller asks of the dense attention family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from winnow.registry import OperatorRequest


@dataclass(frozen=True, kw_only=True)
class DenseAttentionRequest(OperatorRequest):
    """softmax(scale · Q·Kᵀ)·V, where `num_query_heads / num_kv_heads` query heads share a key head.

    A causal mask ends at the last query and the last key. Tensors are batch, sequence, head, element without gaps.
    """

    num_query_heads: int
    num_kv_heads: int
    seqlen_q: int
    seqlen_kv: int
    head_size: int
    causal: bool = False
    sliding_window: int = 0
    ragged: bool = False
    batch: int = 1

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
        """`causal`, `sliding_window` and `ragged` where asked for, `gqa` where query heads share key heads."""
        asked = {
            "causal": self.causal,
            "sliding_window": self.sliding_window != 0,
            "ragged": self.ragged,
            "gqa": self.num_query_heads != self.num_kv_heads,
        }
        return frozenset(name for name, wanted in asked.items() if wanted)
