"""The engine must serve a graph with a kernel that fits it, the best guess first, or say why it has none."""

from __future__ import annotations

from pathlib import Path

import foreign_registry
import pytest
from engine_files import foreign_engine

from winnow.coverage.asked import Asked
from winnow.coverage.cover import cover
from winnow.errors import InputError, Refused
from winnow.graphs.reader import read_graph
from winnow.runtime.behaviour import behaviour
from winnow.runtime.load import load_engine
from winnow.runtime.matching import Matcher
from winnow.runtime.serve import applicable
from winnow.selection.author import kernels_of
from winnow.selection.cells import CellWalk, load_registry
from winnow.selection.enumerate import walk_registry
from winnow.settings.manifest import load_manifest
from winnow.targets.cpu import host_level

MATCHER = Matcher(
    (("dtype", "equal", "dtype"), ("n", "multiple_of", "step"), ("m", "at_most", "max_m"), ("k", "any", "k"))
)
KERNEL = {"dtype": "FLOAT", "step": 4, "max_m": 8}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"dtype": "FLOAT", "n": 8, "m": 8, "k": 1}, None),
        ({"dtype": "HALF", "n": 8, "m": 8}, "dtype=HALF is not equal to dtype=FLOAT"),
        ({"dtype": "FLOAT", "n": 9, "m": 8}, "n=9 is not a multiple of step=4"),
        ({"dtype": "FLOAT", "n": 8, "m": 9}, "m=9 is not at most max_m=8"),
        ({"dtype": "FLOAT", "n": 8}, "the graph says no m"),
    ],
)
def test_each_comparison_admits_and_refuses(fields, reason):
    assert MATCHER.refusal(KERNEL, fields) == reason


def test_a_step_of_zero_matches_nothing():
    assert MATCHER.refusal({**KERNEL, "step": 0}, {"dtype": "FLOAT", "n": 8, "m": 1}) is not None


@pytest.mark.parametrize(
    ("extension", "message"),
    [
        (None, 'e.ued.json: no "x-winnow" key: this engine needs its native matchers'),
        (
            {"family": "gem", "match": {}, "launch_surface": {"grid": [1, 1, 1]}},
            'e.ued.json: x-winnow.family: no family "gem" is installed\n  cure: did you mean "gemm"?; '
            "a family is an entry point of the group winnow.families",
        ),
        (
            {"family": "gemm", "match": {}, "launch_surface": {"grid": ["n +", 1, 1]}},
            "e.ued.json: x-winnow.launch_surface",
        ),
        (
            {"family": "gemm", "match": {"n": "like"}, "launch_surface": {"grid": [1, 1, 1]}},
            "e.ued.json: x-winnow.match.n: no comparison is spelled so; known: any, equal (value: 'like')",
        ),
        ({"match": {}}, 'e.ued.json: x-winnow.family: key "family" is missing'),
        ({"families": "gemm"}, 'e.ued.json: x-winnow.families: unknown key "families"\n  cure: did you mean "family"?'),
        (
            {"family": "gemm", "match": {"n": {"most": "m"}}, "launch_surface": {}},
            "e.ued.json: x-winnow.match.n: say {equal: F}, {multiple_of: F} or {at_most: F} with a metadata field F "
            "(value: {'most': 'm'})",
        ),
        (
            {"family": "gemm", "match": {}, "launch_surface": {"grid": [1, True, 1]}},
            "e.ued.json: x-winnow.launch_surface.grid: not three expressions or integers (value: [1, True, 1])",
        ),
        (
            {"family": "gemm", "match": {}, "launch_surface": {"grid": [1, 1, 1], "block": [1]}},
            "e.ued.json: x-winnow.launch_surface.block: not three expressions or integers (value: [1])",
        ),
    ],
)
def test_a_faulty_engine_descriptor_is_named(extension, message):
    with pytest.raises(InputError) as caught:
        behaviour(extension, "e.ued.json")
    assert str(caught.value).startswith(message)


def test_kernels_are_ranked_the_same_way_every_time_and_all_fit(small_engine: Path):
    engine = load_engine(small_engine / "build" / "archive", host_level())
    for path in sorted((small_engine / "corpus").glob("*.json")):
        problem, ranked = applicable(engine, read_graph(path))
        assert ranked
        assert ranked == applicable(engine, read_graph(path))[1]
        assert all(engine.refusal(kernel, problem) is None for kernel in ranked)
        others = [kernel for kernel in engine.kernels if kernel not in ranked]
        assert all(engine.refusal(kernel, problem) is not None for kernel in others)


def test_no_kernel_for_a_graph_names_reasons_and_counts(small_engine: Path):
    engine = load_engine(small_engine / "build" / "archive", host_level())
    graph = small_engine / "corpus" / "qwen2_0_5b_k_proj_prefill_m128.json"
    wide = [kernel for kernel in engine.kernels if kernel.metadata["max_m"] < 128]
    only_skinny = type(engine)(engine.name, engine.arch, tuple(wide), engine.behaviour, engine.scored)
    with pytest.raises(Refused) as caught:
        applicable(only_skinny, read_graph(graph))
    told = str(caught.value)
    assert told.startswith(f"qwen2_0_5b_k_proj_prefill_m128: none of {len(wide)} kernels of winnow:GemmCpu on")
    assert "kernels: m=128 is not at most max_m=" in told or "kernels: b_layout=" in told


def test_another_device_gets_no_close_enough_shard(small_engine: Path):
    with pytest.raises(InputError) as caught:
        load_engine(small_engine / "build" / "archive", "gfx950")
    assert "no shard for gfx950" in str(caught.value)
    assert host_level() in str(caught.value)


def test_a_gap_is_explained_by_the_kernel_that_comes_nearest(tmp_path: Path):
    """The first kernels of the selection fail more comparisons than the one that a person would widen."""
    loaded = load_manifest(foreign_engine(tmp_path))
    walk = CellWalk(loaded, load_registry(loaded))
    kernels = kernels_of(loaded, walk_registry(loaded).variants)
    asked = [
        Asked(
            dtype,
            None,
            lambda arch, dtype=dtype: foreign_registry.CopyRequest(arch, dtype, 128),
            lambda request: {"dtype": {"fp32": "FLOAT", "fp16": "HALF"}[request.dtype], "width": request.width},
        )
        for dtype in ("fp32", "fp16")
    ]
    assert [found.reason for found in cover(walk, kernels, asked, ["gfx950"])] == [
        f"copy_tiled serves it; of 10 kernels copy_tiled.{dtype}_wi64_ti16_un1.gfx950 comes nearest: "
        "width=128 is not equal to width=64"
        for dtype in ("fp32", "fp16")
    ]
    assert [found.reason for found in cover(walk, kernels[:10], asked[:1], ["gfx950"])] == [
        "copy_tiled serves it; no kernel is for gfx950"
    ]
    (only,) = cover(walk, kernels[-1:], asked[:1], ["gfx950"])
    assert only.reason.endswith("dtype=FLOAT is not equal to dtype=HALF; width=128 is not equal to width=96")
