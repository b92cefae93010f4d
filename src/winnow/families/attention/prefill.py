"""Attention for many queries: its candidate and its builder."""

from __future__ import annotations

from winnow.compilers.source import CSource
from winnow.families.attention.abi import FAMILY, PARAMETERS
from winnow.families.attention.request import HEAD_SIZES, AttentionRequest
from winnow.families.attention.space import PREFILL
from winnow.families.attention.spec import PrefillSpec
from winnow.families.candidate import c_source, cpu_candidate
from winnow.families.cpu import INT32_MAX
from winnow.families.prediction import blocks
from winnow.registry import DimRelation, ShapeRange


def supports_attention_prefill(spec: PrefillSpec, *, arch: str) -> tuple[bool, str]:
    """Whether the kernel of this spec can be built for a target, and why not."""
    return PREFILL.supports(spec, arch)


def build_attention_prefill(spec: PrefillSpec, *, arch: str) -> CSource:
    """The kernel in C. Raises ValueError when the spec is not supported."""
    return c_source(
        PREFILL,
        spec,
        arch,
        family=FAMILY,
        files=("softmax.h", "prefill.c"),
        parameters=PARAMETERS,
        defines=(("EXP_POLY", int(spec.exp == "poly")),),
    )


def launch_grid(spec: PrefillSpec, request: AttentionRequest) -> tuple[int, int, int]:
    """Tiles of queries, query heads, batch."""
    return blocks(request.seqlen_q, spec.block_m), request.num_query_heads, request.batch


CANDIDATE = cpu_candidate(
    PREFILL,
    name="attention_cpu_prefill",
    family=FAMILY,
    spec_id="prefill",
    priority=40,
    shapes=(
        ShapeRange("head_size", allowed=HEAD_SIZES),
        ShapeRange(
            frozenset({"batch", "num_query_heads", "num_kv_heads", "seqlen_q", "seqlen_kv"}), min=1, max=INT32_MAX
        ),
    ),
    relations=(DimRelation("num_query_heads", "multiple_of", "num_kv_heads"),),
    features=frozenset({"causal", "gqa"}),
    parameters=PARAMETERS,
    grid=launch_grid,
    builder=build_attention_prefill,
)
