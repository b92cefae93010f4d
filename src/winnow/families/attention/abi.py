"""What the attention kernels take, in the order of their argument block."""

from __future__ import annotations

from winnow.compilers.source import Parameter

FAMILY = "attention"

PARAMETERS: tuple[Parameter, ...] = (
    *(Parameter(name, "ptr") for name in "qkvo"),
    *(
        Parameter(name, "i32")
        for name in ("batch", "num_query_heads", "num_kv_heads", "seqlen_q", "seqlen_kv", "causal_offset")
    ),
    Parameter("scale", "f32"),
    *(Parameter(f"stride_{tensor}{dim}", "i64") for tensor in "qkvo" for dim in "bhs"),
)
"""Pointers, sizes, the causal diagonal, the scale of the scores, and strides in elements of batch, head and sequence;
all four tensors are contiguous along the head. Query i sees key j where j <= i + causal_offset."""
