"""Attention for a few queries over a long cache, where memory decides: its candidate and its builder."""

from __future__ import annotations

from winnow.compilers.source import CSource
from winnow.families.attention.abi import FAMILY, PARAMETERS
from winnow.families.attention.request import HEAD_SIZES, AttentionRequest
from winnow.families.attention.space import DECODE, MOST_Q
from winnow.families.attention.spec import DecodeSpec
from winnow.families.candidate import c_source, cpu_candidate
from winnow.families.cpu import INT32_MAX
from winnow.families.prediction import blocks
from winnow.registry import DimRelation, ShapeRange


def supports_attention_decode(spec: DecodeSpec, *, arch: str) -> tuple[bool, str]:
    """Whether the kernel of this spec can be built for a target, and why not."""
    return DECODE.supports(spec, arch)


def build_attention_decode(spec: DecodeSpec, *, arch: str) -> CSource:
    """The kernel in C. Raises ValueError when the spec is not supported."""
    return c_source(
        DECODE,
        spec,
        arch,
        family=FAMILY,
        files=("softmax.h", "decode.c"),
        parameters=PARAMETERS,
        defines=(("EXP_POLY", int(spec.exp == "poly")),),
    )


def launch_grid(spec: DecodeSpec, request: AttentionRequest) -> tuple[int, int, int]:
    """Groups of the rows that share a key head, key heads, batch."""
    rows = request.num_query_heads // request.num_kv_heads * request.seqlen_q
    return blocks(rows, spec.group_rows), request.num_kv_heads, request.batch


CANDIDATE = cpu_candidate(
    DECODE,
    name="attention_cpu_decode",
    family=FAMILY,
    spec_id="decode",
    priority=20,
    shapes=(
        ShapeRange("head_size", allowed=HEAD_SIZES),
        ShapeRange("seqlen_q", min=1, max=MOST_Q),
        ShapeRange(frozenset({"batch", "num_query_heads", "num_kv_heads", "seqlen_kv"}), min=1, max=INT32_MAX),
    ),
    relations=(DimRelation("num_query_heads", "multiple_of", "num_kv_heads"),),
    features=frozenset({"causal", "gqa"}),
    parameters=PARAMETERS,
    grid=launch_grid,
    builder=build_attention_decode,
)
