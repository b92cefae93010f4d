"""The RDNA registry must offer real choices, name each one uniquely, and refuse what cannot be built before it is."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from rdna_kernels import rdna_request, spec_of

from winnow.engine_dir import EngineDir
from winnow.families.attention_rdna import REGISTRY
from winnow.families.attention_rdna.abi import MAX_STRIDE, absent, signature
from winnow.families.attention_rdna.cells import CELLS, Cell
from winnow.families.attention_rdna.forward import CANDIDATE, build_attention_rdna, supports_attention_rdna
from winnow.families.attention_rdna.space import ARCHES
from winnow.registry import PinRefused
from winnow.registry.testing import assert_tuning_contract
from winnow.selection.enumerate import enumerate_variants
from winnow.steps.enumerate import selection_of

ENGINES = Path(str(files("winnow.engines")))


@pytest.mark.parametrize("arch", ARCHES)
def test_the_candidate_keeps_the_tuning_contract(arch: str) -> None:
    asked = rdna_request(arch, head_size_qk=80)
    checked = assert_tuning_contract(
        CANDIDATE,
        [asked],
        other_requests=[replace(asked, batch=3, seqlen_kv=77)],
        default_knobs=[{}, dict(CANDIDATE.select_spec(asked).knobs)],
        refused_knobs=[{"block_m": 48}, {"num_warps": 16, "block_m": 32}, {"kpack": 2}],
    )
    assert checked["specs"] > 20
    assert checked["portable"] == checked["replays"]


@pytest.mark.parametrize("name", ["attention_gfx11", "attention_gfx12"])
def test_the_authored_selection_is_what_the_registry_gives(name: str) -> None:
    """A selection that nobody can make again cannot be reviewed."""
    engine = EngineDir(ENGINES / name / "engine.yaml")
    text = selection_of(engine.manifest, enumerate_variants(engine.manifest), with_header=False)
    assert engine.selection_file.read_text(encoding="utf-8") == text


def test_a_request_finds_the_cell_that_serves_it_best() -> None:
    found = REGISTRY.select(rdna_request(head_size_qk=192, head_size_v=192, mask="causal"))
    assert found.spec.cell == Cell(192, 192, "causal", "none")
    assert found.grid == (1, 8, 1)
    assert found.block == (32 * found.spec.num_warps, 1, 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"head_size_qk": 72}, "capability: head_size_qk=72 is not a multiple of 16"),
        ({"head_size_v": 272}, "capability: head_size_v=272 is above 256"),
        ({"num_v_heads": 3}, "capability: num_query_heads multiple_of num_v_heads does not hold (8, 3)"),
        ({"dtype": "fp32"}, "capability: dtype fp32 is not one of ['fp16', 'bf16']"),
        (
            {"width": 64, "width_step": 64},
            "no kernel is written for Cell(width=64, width_step=64, mask='none', bias='none')",
        ),
        (
            {"width": 64, "width_step": 16, "head_size_v": 80},
            "Cell(width=64, width_step=16, mask='none', bias='none') does not serve heads of 64 and 80 elements",
        ),
    ],
)
def test_what_it_does_not_serve_is_refused_with_the_reason(changes: dict[str, int], reason: str) -> None:
    assert CANDIDATE.admits(rdna_request(**changes)) == (False, reason)
    with pytest.raises(PinRefused):
        REGISTRY.select(rdna_request(spec_id="forward", **changes))


def test_tiles_that_cannot_be_built_are_refused_before_a_compiler_runs() -> None:
    wide = spec_of(Cell(256, 16, "band", "none"))
    for change, reason in (
        (
            {"num_warps": 4},
            "estimated registers exceed those of the target by at most half the width for each copy of an operand: "
            "width=256, block_m=128, block_n=32, transposed=0, num_warps=4, num_stages=1, bias='none', registers=256, "
            "operand_copies=2",
        ),
        (
            {"block_n": 64, "num_stages": 2},
            "a tile of queries, and the tiles of keys in flight, fit the LDS: width=256, block_m=128, block_n=64, "
            "num_stages=2, lds_bytes=65536",
        ),
        ({"block_m": 16}, "every warp has a matrix of scores: block_m=16, block_n=32, num_warps=16"),
    ):
        spec = replace(wide, **change)
        assert supports_attention_rdna(spec, arch="gfx11-generic") == (False, reason)
        with pytest.raises(ValueError, match=reason[:30]):
            build_attention_rdna(spec, arch="gfx11-generic")
    assert supports_attention_rdna(wide, arch="gfx950") == (False, "attention_rdna is not written for gfx950")


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_every_argument_is_taken_or_compiled_away(cell: Cell) -> None:
    """An argument in both lists, or in none, would shift all behind it."""
    source = build_attention_rdna(spec_of(cell), arch="gfx11-generic")
    taken, gone = [name for name, _ in signature(cell, "fp16")], absent(cell, "fp16")
    assert not set(taken) & set(gone)
    declared = source.text[source.text.index("def attention_forward(") :]
    declared = declared[: declared.index("WIDTH: tl.constexpr")]
    names = [line.strip().rstrip(",") for line in declared.splitlines()[1:] if line.strip()]
    assert [name for name in names if name in taken] == taken
    assert set(names) == {*taken, *gone}
    assert ("attn_mask" in taken) == (cell.bias != "none")
    assert ("head_size_qk" in taken) != cell.exact


def test_the_kernels_largest_stride_is_the_one_that_graphs_are_declined_above() -> None:
    text = build_attention_rdna(spec_of(CELLS[0]), arch="gfx11-generic").text
    assert f"MAX_STRIDE: tl.constexpr = tl.constexpr(1 << {MAX_STRIDE.bit_length() - 1})" in text
