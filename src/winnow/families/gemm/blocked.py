"""The blocked GEMM: the candidate for products of any size, and its builder."""

from __future__ import annotations

from winnow.compilers.source import CSource
from winnow.families.candidate import c_source, cpu_candidate
from winnow.families.cpu import INT32_MAX
from winnow.families.gemm.abi import FAMILY, PARAMETERS
from winnow.families.gemm.request import GemmRequest
from winnow.families.gemm.space import BLOCKED
from winnow.families.gemm.spec import BlockedSpec
from winnow.families.prediction import blocks
from winnow.registry import ShapeRange


def supports_gemm_blocked(spec: BlockedSpec, *, arch: str) -> tuple[bool, str]:
    """Whether the kernel of this spec can be built for a target, and why not."""
    return BLOCKED.supports(spec, arch)


def build_gemm_blocked(spec: BlockedSpec, *, arch: str) -> CSource:
    """The kernel in C. Raises ValueError when the spec is not supported."""
    return c_source(
        BLOCKED,
        spec,
        arch,
        family=FAMILY,
        files=("blocked.c",),
        parameters=PARAMETERS,
        defines=(("B_COL", int(spec.b_layout == "col")),),
    )


def launch_grid(spec: BlockedSpec, request: GemmRequest) -> tuple[int, int, int]:
    """Blocks of columns, products of the batch."""
    return blocks(request.n, spec.block_n), request.batch, 1


CANDIDATE = cpu_candidate(
    BLOCKED,
    name="gemm_cpu_blocked",
    family=FAMILY,
    spec_id="blocked",
    priority=40,
    shapes=(ShapeRange(frozenset({"batch", "M", "N", "K"}), min=1, max=INT32_MAX),),
    features=frozenset({"batched"}),
    parameters=PARAMETERS,
    grid=launch_grid,
    builder=build_gemm_blocked,
)
