"""Which node types a graph may hold: their tensor roles, and where each keeps its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from winnow.dtypes import FORMATS

OptionsAt = Literal["attributes", "parameters", "inputs"]


@dataclass(frozen=True)
class NodeKind:
    """Roles (without the suffix `_tensor_uid`) of one node type; `options_at` is None where it has no options."""

    inputs: tuple[str, ...]
    optional_inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    optional_outputs: tuple[str, ...]
    options_at: OptionsAt | None


_SDPA_OPTIONAL = (
    "attn_mask scale seq_len_q seq_len_kv seed offset dropout_mask dropout_scale page_table_k page_table_v "
    "block_mask sink_token descale_q descale_k descale_v descale_s scale_s scale_o"
)

KINDS: dict[str, NodeKind] = {
    "MatmulAttributes": NodeKind(("a", "b"), (), ("c",), (), None),
    "SdpaAttributes": NodeKind(
        ("q", "k", "v"),
        tuple(_SDPA_OPTIONAL.split()),
        ("o",),
        ("stats", "max", "sum_exp", "rng_dump", "amax_s", "amax_o"),
        "attributes",
    ),
    "ConvolutionFwdAttributes": NodeKind(("x", "w"), (), ("y",), (), "parameters"),
    "ConvolutionBwdAttributes": NodeKind(("dy", "w"), (), ("dx",), (), "parameters"),
    "ConvolutionWrwAttributes": NodeKind(("x", "dy"), (), ("dw",), (), "parameters"),
    "PointwiseAttributes": NodeKind(("in_0",), ("in_1", "in_2", "axis"), ("out_0",), (), "inputs"),
    "BatchnormInferenceAttributes": NodeKind(("x", "mean", "inv_variance", "scale", "bias"), (), ("y",), (), None),
}

# Early files spell the backward convolutions as other libraries do.
ALIASES = {
    "ConvolutionDgradAttributes": "ConvolutionBwdAttributes",
    "ConvolutionWgradAttributes": "ConvolutionWrwAttributes",
}

DATA_TYPES = (*(row.name for row in FORMATS.values() if row.in_graphs), "unset")

TENSOR_SUFFIX = "_tensor_uid"
