"""The dense attention kernel: its candidates, one a generation of GPUs, and its builder."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from winnow.compilers.source import TritonSource
from winnow.families.algorithm import Admission
from winnow.families.attention_dense.estimates import inert_knobs
from winnow.families.attention_dense.request import DenseAttentionRequest
from winnow.families.attention_dense.space import ALGORITHM, DTYPES, HEAD_SIZES
from winnow.families.attention_dense.spec import AttentionDenseSpec
from winnow.families.cpu import INT32_MAX
from winnow.families.prediction import blocks
from winnow.registry import Capability, DimRelation, KernelCandidate, ShapeRange
from winnow.targets.arches import arch_facts

FAMILY = "attention_dense"

_OPTIONS = {"waves_per_eu": "waves_per_eu", "matrix_size": "matrix_instr_nonkdim", "kpack": "kpack"}
"""Knobs that go to the back end by another name, where it hears them."""


def supports_attention_dense(spec: AttentionDenseSpec, *, arch: str) -> tuple[bool, str]:
    """Whether the kernel of this spec can be built for a target, and why not."""
    return ALGORITHM.supports(spec, arch)


def build_attention_dense(spec: AttentionDenseSpec, *, arch: str) -> TritonSource:
    """The kernel in Triton. Raises ValueError when the spec is not supported."""
    supported, reason = supports_attention_dense(spec, arch=arch)
    if not supported:
        raise ValueError(reason)
    return source_of(spec, arch)


def source_of(spec: AttentionDenseSpec, arch: str) -> TritonSource:
    """The kernel of a spec, whether or not the rules allow it."""
    silent = inert_knobs(arch)
    return TritonSource(
        symbol=spec.symbol,
        text=(files("winnow.families.attention_dense") / "kernels" / "forward.py").read_text(encoding="utf-8"),
        function="attention_dense",
        signature=(
            *((name, f"*{spec.dtype}") for name in "qkvo"),
            ("scale", "fp32"),
            *((name, "i32") for name in ("batch", "seqlen_q", "seqlen_kv")),
        ),
        constexprs=(
            ("QUERY_HEADS", spec.num_query_heads),
            ("KV_HEADS", spec.num_kv_heads),
            ("HEAD_SIZE", spec.head_size),
            ("BLOCK_M", spec.block_m),
            ("BLOCK_N", spec.block_n),
            ("CAUSAL", spec.causal),
        ),
        attributes=tuple((name, "tt.divisibility", 16) for name in "qkvo"),
        num_warps=spec.waves,
        num_stages=spec.num_stages,
        options=tuple((option, getattr(spec, knob)) for knob, option in _OPTIONS.items() if knob not in silent),
    )


def launch_grid(spec: AttentionDenseSpec, request: DenseAttentionRequest) -> tuple[int, int, int]:
    """Tiles of queries, query heads, batch."""
    return blocks(request.seqlen_q, spec.block_m), request.num_query_heads, request.batch


def _supports(request: Any) -> Admission:
    try:
        ALGORITHM.select(request)
    except ValueError as error:
        return False, str(error)
    return True, ""


def _candidate(name: str, arches: tuple[str, ...], priority: int) -> KernelCandidate:
    wave = arch_facts(arches[0]).wave_size
    return KernelCandidate(
        name=f"attention_dense_{name}",
        family=FAMILY,
        algorithm=AttentionDenseSpec.ALGORITHM,
        spec_id=name,
        abi_version=AttentionDenseSpec.ABI,
        priority=priority,
        capability=Capability(
            arches=arches,
            dtypes=DTYPES,
            shapes=(
                ShapeRange("head_size", allowed=HEAD_SIZES),
                ShapeRange(
                    frozenset({"batch", "num_query_heads", "num_kv_heads", "seqlen_q", "seqlen_kv"}),
                    min=1,
                    max=INT32_MAX,
                ),
            ),
            relations=(DimRelation("num_query_heads", "multiple_of", "num_kv_heads"),),
            supports_features=frozenset({"causal", "gqa"}),
        ),
        spec=ALGORITHM.select,
        specs=ALGORITHM.specs,
        parameters=lambda spec: source_of(spec, arches[0]).parameters,
        launch_grid=launch_grid,
        builder=build_attention_dense,
        space=ALGORITHM.space,
        launch_block=lambda spec: (wave * spec.waves, 1, 1),
        supports=_supports,
    )


CANDIDATES = (
    _candidate("gfx950", ("gfx950",), 30),
    _candidate("gfx942", ("gfx942",), 30),
    _candidate("gfx1250", ("gfx1250",), 30),
    _candidate("sm_90", ("sm_90",), 30),
    _candidate("rdna", ("gfx11-generic", "gfx1151", "gfx12-generic", "gfx1201"), 50),
)
