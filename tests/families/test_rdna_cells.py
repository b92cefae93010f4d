"""Which object serves a graph: exact before buckets, the tightest bucket, the most special mask, or a reason."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdna_kernels import rdna_graph

from winnow.engine_dir import EngineDir
from winnow.families.adapter import Declined, Problem
from winnow.families.attention_rdna import ADAPTER
from winnow.families.attention_rdna.cells import BIASES, CELLS, MASKS, Cell, closest_cell
from winnow.runtime.behaviour import Behaviour, behaviour
from winnow.selection.expand import expand
from winnow.selection.kernel import Kernel

ENGINES = Path(str(files("winnow.engines")))
COUNTS = {"attention_gfx11": 64, "attention_gfx12": 56}


@cache
def engine(name: str) -> tuple[Behaviour, tuple[Kernel, ...]]:
    loaded = EngineDir(ENGINES / name / "engine.yaml")
    parts = loaded.manifest.manifest.model_dump(
        include={"family", "match", "launch_surface"}, exclude_none=True, mode="json"
    )
    return behaviour(parts, name), expand(loaded.selection)


def serving(name: str, problem: Problem) -> list[Kernel]:
    """The kernels that serve a problem, the best first, as the engine ranks them."""
    behaves, kernels = engine(name)
    able = [kernel for kernel in kernels if behaves.matcher.refusal(kernel.metadata, problem.fields) is None]
    return sorted(able, key=lambda kernel: (-behaves.adapter.score(kernel.metadata, problem.fields), kernel.name))


def cell_of(kernel: Kernel) -> Cell:
    return Cell(*(kernel.spec[name] for name in ("width", "width_step", "mask", "bias")))


OPTIONS = {
    "none": {},
    "causal": {"causal_mask": True},
    "band": {"left_bound": 3, "right_bound": 0},
}


def problem_of(
    head_size_qk: int, head_size_v: int, mask: str, bias: str, type_: str = "half", rows: int = 32
) -> Problem:
    dims = {
        "q": (1, 4, rows, head_size_qk),
        "k": (1, 2, 32, head_size_qk),
        "v": (1, 2, 32, head_size_v),
        "o": (1, 4, rows, head_size_v),
    }
    types = dict.fromkeys(dims, type_)
    if bias != "none":
        dims["attn_mask"] = (1, 1, rows, 32)
        types["attn_mask"] = "float" if bias == "fp32" else type_
    return ADAPTER.problem(rdna_graph(dims, types=types, **OPTIONS[mask]))


@pytest.mark.parametrize("name", COUNTS)
def test_engines_hold_every_cell_for_both_types(name: str) -> None:
    _, kernels = engine(name)
    assert len(kernels) == COUNTS[name]
    plain = [kernel for kernel in kernels if not kernel.spec["transposed"]]
    assert Counter((kernel.spec["dtype"], cell_of(kernel)) for kernel in plain) == {
        (dtype, cell): 1 for dtype in ("fp16", "bf16") for cell in CELLS
    }
    others = [kernel for kernel in kernels if kernel.spec["transposed"]]
    assert {kernel.spec["block_n"] for kernel in others} <= {32}
    assert Counter(kernel.spec["dtype"] for kernel in others) == ({"fp16": 4, "bf16": 4} if others else {})


WIDTHS = st.integers(1, 16).map(lambda n: 16 * n)


@given(WIDTHS, WIDTHS, st.sampled_from(MASKS), st.sampled_from(BIASES), st.sampled_from(["half", "bfloat16"]))
def test_what_the_manifest_matches_and_the_score_ranks_is_what_the_cells_say(
    head_size_qk: int, head_size_v: int, mask: str, bias: str, type_: str
) -> None:
    """Two ways to one answer: comparisons of metadata in the engine, and the table of cells in the family."""
    problem = problem_of(head_size_qk, head_size_v, mask, bias, type_)
    expected = {cell for cell in CELLS if cell.serves(head_size_qk, head_size_v, mask, bias)}
    dtype = {"half": "fp16", "bfloat16": "bf16"}[type_]
    for name in COUNTS:
        ranked = serving(name, problem)
        assert {cell_of(kernel) for kernel in ranked} == expected
        assert {kernel.spec["dtype"] for kernel in ranked} == {dtype}
        cells = [cell_of(kernel).preference for kernel in ranked]
        assert cells == sorted(cells)
    assert closest_cell(head_size_qk, head_size_v, mask, bias) in expected


@pytest.mark.parametrize(
    ("widths", "mask", "bias", "chosen"),
    [
        ((64, 64), "none", "none", Cell(64, 16, "none", "none")),
        ((64, 64), "causal", "none", Cell(64, 16, "band", "none")),  # narrow buckets have one masked object
        ((80, 64), "none", "none", Cell(96, 16, "none", "none")),  # the wider of the two decides
        ((64, 112), "band", "same", Cell(128, 16, "band", "same")),
        ((160, 160), "causal", "none", Cell(160, 16, "causal", "none")),
        ((160, 160), "causal", "fp32", Cell(160, 16, "band", "fp32")),
        ((192, 192), "causal", "none", Cell(192, 192, "causal", "none")),
        ((192, 192), "none", "same", Cell(256, 16, "band", "same")),  # no exact object adds a bias
        ((192, 128), "causal", "none", Cell(256, 16, "causal", "none")),  # an exact width is that of Q, K and V
        ((256, 256), "none", "none", Cell(256, 256, "none", "none")),
        ((176, 16), "band", "none", Cell(256, 16, "band", "none")),
    ],
)
def test_the_closest_object_is_chosen(widths: tuple[int, int], mask: str, bias: str, chosen: Cell) -> None:
    assert cell_of(serving("attention_gfx12", problem_of(*widths, mask, bias))[0]) == chosen


def test_few_queries_take_the_short_tile_and_many_the_long_one() -> None:
    """Without hardware to measure on, the share of work that is of use must rank them, not chance."""
    few, many = (serving("attention_gfx11", problem_of(64, 64, "none", "none", rows=rows))[0] for rows in (16, 512))
    assert (few.spec["transposed"], few.spec["block_m"]) == (1, 32)
    assert (many.spec["transposed"], many.spec["block_m"]) == (0, 64)


def test_no_object_serves_wider_heads() -> None:
    with pytest.raises(Declined) as declined:
        problem_of(272, 64, "none", "none")
    assert str(declined.value) == "heads of 272 elements in q and k; the kernels take multiples of 16 up to 256"
    assert closest_cell(272, 64, "none", "none") is None
