"""The RDNA attention kernel: its candidate and its builder."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from winnow.compilers.source import TritonSource
from winnow.families.algorithm import Admission
from winnow.families.attention_rdna.abi import FAMILY, absent, attributes, signature
from winnow.families.attention_rdna.cells import BIASES, CELLS, MASKS, WIDEST, WIDTH_STEP, Cell
from winnow.families.attention_rdna.request import DTYPES, RdnaAttentionRequest
from winnow.families.attention_rdna.space import ALGORITHM, ARCHES, WARP
from winnow.families.attention_rdna.spec import RdnaAttentionSpec
from winnow.families.cpu import INT32_MAX
from winnow.families.prediction import blocks
from winnow.registry import Capability, DimRelation, KernelCandidate, ShapeRange

_SIZES = frozenset({"batch", "num_query_heads", "num_k_heads", "num_v_heads", "seqlen_q", "seqlen_kv"})


def supports_attention_rdna(spec: RdnaAttentionSpec, *, arch: str) -> tuple[bool, str]:
    """Whether the kernel of this spec can be built for a target, and why not."""
    if spec.dtype not in DTYPES:
        return False, f"dtype {spec.dtype} is not one of {list(DTYPES)}"
    if spec.cell not in CELLS:
        return False, f"no kernel is written for {spec.cell}"
    return ALGORITHM.supports(spec, arch)


def build_attention_rdna(spec: RdnaAttentionSpec, *, arch: str) -> TritonSource:
    """The kernel in Triton. Raises ValueError when the spec is not supported."""
    supported, reason = supports_attention_rdna(spec, arch=arch)
    if not supported:
        raise ValueError(reason)
    return source_of(spec)


def source_of(spec: RdnaAttentionSpec) -> TritonSource:
    """The kernel of a spec, whether or not the rules allow it. The target decides nothing of it."""
    cell, head = spec.cell, 1 << (spec.width.bit_length() - 1)
    return TritonSource(
        symbol=spec.symbol,
        text=(files("winnow.families.attention_rdna") / "kernels" / "forward.py").read_text(encoding="utf-8"),
        function="attention_forward",
        signature=signature(cell, spec.dtype),
        constexprs=(
            *((name, 0) for name in absent(cell, spec.dtype)),
            ("WIDTH", head),
            ("TAIL", spec.width - head),
            ("EXACT", cell.exact),
            ("MASK", MASKS.index(spec.mask)),
            ("BIAS", spec.bias != "none"),
            ("BLOCK_M", spec.block_m),
            ("BLOCK_N", spec.block_n),
            ("TRANSPOSED", bool(spec.transposed)),
        ),
        attributes=attributes(cell, spec.dtype),
        num_warps=spec.num_warps,
        num_stages=spec.num_stages,
        options=(("waves_per_eu", spec.waves_per_eu),),
    )


def launch_block(spec: RdnaAttentionSpec) -> tuple[int, int, int]:
    """Lanes of all warps."""
    return WARP * spec.num_warps, 1, 1


def launch_grid(spec: RdnaAttentionSpec, request: RdnaAttentionRequest) -> tuple[int, int, int]:
    """Tiles of queries, query heads, batch."""
    return blocks(request.seqlen_q, spec.block_m), request.num_query_heads, request.batch


def _supports(request: Any) -> Admission:
    cell = Cell(request.width, request.width_step, request.mask, request.bias)
    if cell not in CELLS:
        return False, f"no kernel is written for {cell}"
    if not cell.serves(request.head_size_qk, request.head_size_v, request.mask, request.bias):
        return False, f"{cell} does not serve heads of {request.head_size_qk} and {request.head_size_v} elements"
    try:
        ALGORITHM.select(request)
    except ValueError as error:
        return False, str(error)
    return True, ""


CANDIDATE = KernelCandidate(
    name="attention_rdna_forward",
    family=FAMILY,
    algorithm=RdnaAttentionSpec.ALGORITHM,
    spec_id="forward",
    abi_version=RdnaAttentionSpec.ABI,
    priority=50,
    capability=Capability(
        arches=ARCHES,
        dtypes=DTYPES,
        shapes=(
            ShapeRange(_SIZES, min=1, max=INT32_MAX),
            ShapeRange(frozenset({"head_size_qk", "head_size_v"}), min=WIDTH_STEP, max=WIDEST, multiple_of=WIDTH_STEP),
        ),
        relations=(
            DimRelation("num_query_heads", "multiple_of", "num_k_heads"),
            DimRelation("num_query_heads", "multiple_of", "num_v_heads"),
        ),
        supports_features=frozenset({*MASKS, "bias", "gqa"} - {MASKS[0], BIASES[0]}),
    ),
    spec=ALGORITHM.select,
    specs=ALGORITHM.specs,
    parameters=lambda spec: source_of(spec).parameters,
    launch_grid=launch_grid,
    builder=build_attention_rdna,
    space=ALGORITHM.space,
    launch_block=launch_block,
    supports=_supports,
)
