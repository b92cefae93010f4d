"""What would spill hundreds of registers is refused before LLVM spends minutes on it; what is shipped is not."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rdna_kernels import rdna_request, spec_of

from winnow.compilers.triton import compile_triton, find_triton
from winnow.engine_dir import EngineDir
from winnow.families.attention_rdna.cells import CELLS, Cell
from winnow.families.attention_rdna.estimates import registers_needed, registers_to_spill, warp_grid
from winnow.families.attention_rdna.forward import build_attention_rdna, supports_attention_rdna
from winnow.families.attention_rdna.space import ALGORITHM, ARCHES, registers_fit, target_facts
from winnow.families.attention_rdna.spec import RdnaAttentionSpec
from winnow.selection.expand import expand

ENGINES = Path(str(files("winnow.engines")))
WORST = RdnaAttentionSpec("fp16", 256, 16, "band", "none", 16, 64, 0, 2, 1, 2)
"""It spills 1312 registers on gfx11 and 952 on gfx12."""


def needed(spec: RdnaAttentionSpec, arch: str) -> int:
    copies = target_facts(arch)["operand_copies"]
    tile = (spec.width, spec.block_m, spec.block_n, spec.transposed, spec.num_warps, spec.num_stages)
    return registers_needed(*tile, spec.bias != "none", copies)


@pytest.mark.parametrize(("name", "objects"), [("attention_gfx11", 64), ("attention_gfx12", 56)])
def test_every_shipped_tile_is_allowed(name: str, objects: int) -> None:
    engine = EngineDir(ENGINES / name / "engine.yaml")
    kernels = expand(engine.selection)
    arch = name.replace("attention_", "") + "-generic"
    assert len(kernels) == objects
    for kernel in kernels:
        assert supports_attention_rdna(RdnaAttentionSpec(**kernel.spec), arch=arch) == (True, "")


@pytest.mark.parametrize(("arch", "copies"), [("gfx11-generic", 2), ("gfx12-generic", 1)])
def test_the_tile_that_spills_most_is_refused_with_the_numbers(arch: str, copies: int) -> None:
    assert supports_attention_rdna(WORST, arch=arch) == (
        False,
        "estimated registers exceed those of the target by at most half the width for each copy of an operand: "
        "width=256, block_m=16, block_n=64, transposed=0, num_warps=2, num_stages=1, bias='none', registers=256, "
        f"operand_copies={copies}",
    )
    assert needed(WORST, arch) - 256 > 2 * registers_to_spill(256, copies)


TILES = st.builds(
    RdnaAttentionSpec,
    dtype=st.just("fp16"),
    width=st.sampled_from(sorted({cell.width for cell in CELLS})),
    width_step=st.just(16),
    mask=st.just("band"),
    bias=st.sampled_from(["none", "fp32", "same"]),
    block_m=st.sampled_from([16, 32, 64, 128]),
    block_n=st.sampled_from([16, 32, 64]),
    transposed=st.sampled_from([0, 1]),
    num_warps=st.sampled_from([2, 4, 8, 16]),
    num_stages=st.sampled_from([1, 2]),
    waves_per_eu=st.just(0),
)


@given(TILES, st.sampled_from(ARCHES))
def test_larger_tiles_need_more_registers(spec: RdnaAttentionSpec, arch: str) -> None:
    assume(spec.block_m * spec.block_n >= 256 * spec.num_warps)
    least = needed(spec, arch)
    assert needed(replace(spec, block_m=2 * spec.block_m), arch) >= least
    assert needed(replace(spec, block_n=2 * spec.block_n), arch) > least
    assert needed(replace(spec, bias="fp32"), arch) >= least
    assert needed(replace(spec, num_stages=2), arch) >= least


@given(TILES)
def test_operands_that_lie_twice_need_more_registers(spec: RdnaAttentionSpec) -> None:
    assert needed(spec, "gfx11-generic") > needed(spec, "gfx12-generic")


@pytest.mark.parametrize(
    ("rows", "columns", "warps", "grid"),
    [
        (4, 2, 4, (2, 2)),  # scores of 64 queries by 32 keys
        (4, 8, 4, (1, 4)),  # their outputs, 128 columns
        (1, 4, 4, (1, 4)),  # scores of 16 queries by 64 keys
        (2, 4, 4, (1, 4)),  # scores of 32 keys by 64 queries
        (8, 4, 4, (2, 2)),  # their outputs, 128 columns
        (4, 1, 4, (4, 1)),  # scores of 64 keys by 16 queries
    ],
)
def test_warps_lie_as_triton_lays_them(rows: int, columns: int, warps: int, grid: tuple[int, int]) -> None:
    """The grids of `amd_wmma` layouts in Triton's intermediate form."""
    assert warp_grid(rows, columns, warps) == grid


@given(*(st.sampled_from([1, 2, 4, 8, 16]) for _ in range(3)))
def test_no_warp_is_left_over(rows: int, columns: int, warps: int) -> None:
    down, across = warp_grid(rows, columns, warps)
    assert down * across == warps
    if rows * columns >= warps:
        assert down <= rows


@pytest.mark.parametrize("arch", ["gfx11-generic", "gfx12-generic"])
def test_the_rule_prunes_and_leaves_a_choice(arch: str) -> None:
    open_ended = replace(ALGORITHM, kernel_rules=tuple(r for r in ALGORITHM.kernel_rules if r is not registers_fit))
    for cell in CELLS:
        shape = {"head_size_qk": cell.width, "head_size_v": cell.width, "mask": cell.mask, "bias": cell.bias}
        asked = rdna_request(arch, width=cell.width, width_step=cell.width_step, **shape)
        assert 16 <= ALGORITHM.space(asked).count() < open_ended.space(asked).count()


@pytest.mark.parametrize(
    ("cell", "knobs"),
    [
        (Cell(64, 16, "none", "none"), {}),
        (Cell(128, 16, "none", "none"), {"block_m": 64, "transposed": 1, "num_warps": 4}),
    ],
)
def test_the_estimate_is_near_what_the_compiler_reports(cell: Cell, knobs: dict[str, int]) -> None:
    """One tile without spills, and one that spills."""
    spec = spec_of(cell, arch="gfx12-generic", **knobs)
    found = compile_triton(build_attention_rdna(spec, arch="gfx12-generic"), "gfx12-generic", find_triton()).resources
    reported = found["vgprs"] + found["vgpr_spills"]
    assert abs(needed(spec, "gfx12-generic") - reported) <= reported // 5
