"""The skinny GEMM: the candidate for products of a few rows, where memory decides, and its builder."""

from __future__ import annotations

from winnow.compilers.source import CSource
from winnow.families.candidate import c_source, cpu_candidate
from winnow.families.cpu import INT32_MAX
from winnow.families.gemm.abi import FAMILY, PARAMETERS
from winnow.families.gemm.request import GemmRequest
from winnow.families.gemm.space import MOST_ROWS, SKINNY
from winnow.families.gemm.spec import SkinnySpec
from winnow.families.prediction import blocks
from winnow.registry import ShapeRange


def supports_gemm_skinny(spec: SkinnySpec, *, arch: str) -> tuple[bool, str]:
    """Whether the kernel of this spec can be built for a target, and why not."""
    return SKINNY.supports(spec, arch)


def build_gemm_skinny(spec: SkinnySpec, *, arch: str) -> CSource:
    """The kernel in C. Raises ValueError when the spec is not supported."""
    return c_source(
        SKINNY,
        spec,
        arch,
        family=FAMILY,
        files=("skinny.c",),
        parameters=PARAMETERS,
        defines=(("B_COL", int(spec.b_layout == "col")),),
    )


def launch_grid(spec: SkinnySpec, request: GemmRequest) -> tuple[int, int, int]:
    """Blocks of columns, products of the batch; with B contiguous along k the kernel takes all columns at once."""
    return blocks(request.n, spec.block) if spec.b_layout == "row" else 1, request.batch, 1


CANDIDATE = cpu_candidate(
    SKINNY,
    name="gemm_cpu_skinny",
    family=FAMILY,
    spec_id="skinny",
    priority=20,
    shapes=(
        ShapeRange("M", min=1, max=MOST_ROWS),
        ShapeRange(frozenset({"batch", "N", "K"}), min=1, max=INT32_MAX),
    ),
    features=frozenset({"batched"}),
    parameters=PARAMETERS,
    grid=launch_grid,
    builder=build_gemm_skinny,
)
