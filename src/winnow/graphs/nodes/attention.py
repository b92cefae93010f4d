"""Scaled dot-product attention, forward."""

from __future__ import annotations

from typing import Literal

from pydantic import FiniteFloat

from winnow.graphs.kinds import NodeKind
from winnow.strict.schema import StrictModel

_OPTIONAL = (
    "attn_mask scale seq_len_q seq_len_kv seed offset dropout_mask dropout_scale page_table_k page_table_v "
    "block_mask sink_token descale_q descale_k descale_v descale_s scale_s scale_o"
)


class SdpaOptions(StrictModel):
    """`attributes` of attention."""

    generate_stats: bool | None = None
    alibi_mask: bool = False
    padding_mask: bool = False
    causal_mask: bool = False
    causal_mask_bottom_right: bool = False
    dropout_probability: FiniteFloat | None = None
    attn_scale_value: FiniteFloat | None = None
    left_bound: int | None = None
    right_bound: int | None = None
    max_seq_len_kv: int | None = None
    diagonal_alignment: Literal["TOP_LEFT", "BOTTOM_RIGHT"] = "TOP_LEFT"
    mma_core_mode: str = "UNSET"
    implementation: Literal["AUTO", "COMPOSITE", "UNIFIED"] = "AUTO"


SDPA = NodeKind(
    "SdpaAttributes",
    inputs=("q", "k", "v"),
    outputs=("o",),
    optional_inputs=tuple(_OPTIONAL.split()),
    optional_outputs=("stats", "max", "sum_exp", "rng_dump", "amax_s", "amax_o"),
    options_at="attributes",
    options=SdpaOptions,
)
