"""What a caller asks of the RDNA attention family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from winnow.families.attention_rdna.cells import closest_cell
from winnow.registry import OperatorRequest

DTYPES = ("fp16", "bf16")


@dataclass(frozen=True, kw_only=True)
class RdnaAttentionRequest(OperatorRequest):
    """softmax(scale · Q·Kᵀ + bias)·V, where query heads share key heads and, apart from that, value heads.

    `width` 0 stands for the cell that serves the widths, the mask and the bias best; another one names a cell.
    """

    num_query_heads: int
    num_k_heads: int
    num_v_heads: int
    seqlen_q: int
    seqlen_kv: int
    head_size_qk: int
    head_size_v: int
    mask: str = "none"
    bias: str = "none"
    width: int = 0
    width_step: int = 0
    batch: int = 1

    def __post_init__(self) -> None:
        if self.width == 0:
            cell = closest_cell(self.head_size_qk, self.head_size_v, self.mask, self.bias)
            if cell is not None:
                object.__setattr__(self, "width", cell.width)
                object.__setattr__(self, "width_step", cell.width_step)
                object.__setattr__(self, "mask", cell.mask)

    def dims(self) -> Mapping[str, int]:
        """The sizes by name."""
        return {
            "batch": self.batch,
            "num_query_heads": self.num_query_heads,
            "num_k_heads": self.num_k_heads,
            "num_v_heads": self.num_v_heads,
            "seqlen_q": self.seqlen_q,
            "seqlen_kv": self.seqlen_kv,
            "head_size_qk": self.head_size_qk,
            "head_size_v": self.head_size_v,
            "width": self.width,
        }

    def features(self) -> frozenset[str]:
        """`causal` or `band` where keys are masked, `bias` where something is added to the scores, `gqa`."""
        asked = {
            self.mask: self.mask != "none",
            "bias": self.bias != "none",
            "gqa": self.num_query_heads != self.num_k_heads or self.num_query_heads != self.num_v_heads,
        }
        return frozenset(name for name, wanted in asked.items() if wanted)
