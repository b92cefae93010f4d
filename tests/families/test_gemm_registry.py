"""The GEMM registry must offer real choices, name each one uniquely, and refuse what it does not have by name."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.families.gemm import ADAPTER, REGISTRY, GemmRequest
from winnow.families.gemm.blocked import build_gemm_blocked, supports_gemm_blocked
from winnow.families.gemm.skinny import build_gemm_skinny, supports_gemm_skinny
from winnow.families.gemm.spec import BlockedSpec, SkinnySpec
from winnow.registry.testing import assert_tuning_contract

BLOCKED = REGISTRY.get("gemm_cpu_blocked")
SKINNY = REGISTRY.get("gemm_cpu_skinny")
ARCHES = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-generic")


def request(arch: str = "x86-64-v3", **changes: Any) -> GemmRequest:
    return GemmRequest(**{"arch": arch, "m": 1, "n": 12288, "k": 512, **changes})


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("b_layout", ["row", "col"])
def test_candidates_keep_the_tuning_contract(arch: str, b_layout: str) -> None:
    asked = request(arch, b_layout=b_layout)
    for candidate, refused in ((BLOCKED, {"reg_m": 5}), (SKINNY, {"rows": 3})):
        default = dict(candidate.select_spec(asked).knobs)
        checked = assert_tuning_contract(
            candidate,
            [asked],
            other_requests=[replace(asked, k=77, batch=3)],
            default_knobs=[{}, default],
            refused_knobs=[refused, {"vec": 32}, {"no_such_knob": 1}],
        )
        assert checked["specs"] > 20
        assert checked["portable"] == checked["replays"]


@pytest.mark.parametrize("arch", ARCHES)
def test_the_spaces_hold_thousands_of_variants(arch: str) -> None:
    counts = {
        c.name: sum(c.space(request(arch, b_layout=b)).count() for b in ("row", "col")) for c in (BLOCKED, SKINNY)
    }
    assert counts["gemm_cpu_blocked"] > 10_000
    assert counts["gemm_cpu_skinny"] > 2_000


def test_a_few_rows_go_to_the_skinny_kernel_and_many_to_the_blocked_one() -> None:
    assert REGISTRY.select(request(m=8)).candidate is SKINNY
    assert REGISTRY.select(request(m=9)).candidate is BLOCKED
    assert REGISTRY.select(request(m=1, algorithm="gemm_blocked")).candidate is BLOCKED


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tuning_knobs": (("reg_m", 5),)}, "reg_m=5 is not one of 1, 2, 4, 6, 8, 12"),
        ({"tuning_knobs": (("pack_a", True),)}, "pack_a=True is not one of 0, 1"),
        ({"tuning_knobs": (("unrol_k", 4),)}, 'gemm_blocked has no knob "unrol_k"; did you mean "unroll_k"?'),
        ({"tuning_knobs": (("vec", 16),)}, "a vector fits a register: vec=16, vector_bytes=32"),
        (
            {"tuning_knobs": (("block_m", 64), ("reg_m", 6), ("reg_v", 1))},
            "block_m is a whole number of register tiles: block_m=64, reg_m=6",
        ),
        (
            {"tuning_knobs": (("edge", 0),), "n": 50257},
            "without code for the edge, n is a whole number of register tiles: edge=0, reg_v=3, vec=8, n=50257",
        ),
        (
            {"tuning_knobs": (("pack_b", 0),), "b_layout": "col"},
            "B is read in place only where it is contiguous along n: pack_b=0, b_layout='col'",
        ),
        ({"b_layout": "diagonal"}, 'b_layout "diagonal" is not one of row, col'),
        ({"n": 0}, "capability: N=0 is below 1"),
        ({"dtype": "fp16"}, "capability: dtype fp16 is not one of ['fp32']"),
        ({"tuning_id": "no id"}, '"no id" is not a tuning id\n  cure: <variant>_wpe<N|none>@<16 hex digits>'),
    ],
)
def test_what_the_blocked_kernel_does_not_have_is_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    assert BLOCKED.admits(request(**changes)) == (False, reason)


def test_skinny_refuses_more_rows_than_it_takes() -> None:
    assert SKINNY.admits(request(m=9)) == (False, "capability: M=9 is above 8")
    pinned = request(m=3, tuning_knobs=(("rows", 2),))
    assert SKINNY.admits(pinned) == (False, "the kernel takes at least m rows: rows=2, m=3")


@pytest.mark.parametrize("candidate", [BLOCKED, SKINNY], ids=lambda c: c.name)
def test_every_field_shapes_the_name(candidate: Any) -> None:
    """Two kernels of one name would be one symbol, and an A/B would time one binary twice."""
    spec = candidate.select_spec(request("x86-64-v4"))
    names = {spec.kernel_name()}
    for field in fields(spec):
        value = getattr(spec, field.name)
        names.add(replace(spec, **{field.name: value + 1 if isinstance(value, int) else value + "x"}).kernel_name())
    assert len(names) == 1 + len(fields(spec))
    assert spec.kernel_name().isidentifier()
    assert len(spec.kernel_name()) < 128


def test_accessors_say_what_a_kernel_serves() -> None:
    edge = BLOCKED.select_spec(request())
    whole = BLOCKED.select_spec(request(tuning_knobs=(("edge", 0),)))
    assert (edge.n_multiple(), edge.max_m()) == (1, 2**31 - 1)
    assert (whole.n_multiple(), whole.max_m()) == (24, 2**31 - 1)
    skinny = SKINNY.select_spec(request(m=3))
    assert (skinny.n_multiple(), skinny.max_m()) == (1, 4)


@pytest.mark.parametrize(
    ("build", "supports", "spec_type", "candidate"),
    [
        (build_gemm_blocked, supports_gemm_blocked, BlockedSpec, BLOCKED),
        (build_gemm_skinny, supports_gemm_skinny, SkinnySpec, SKINNY),
    ],
)
def test_a_builder_says_its_spec_and_refuses_what_it_cannot_build(
    build: Any, supports: Any, spec_type: Any, candidate: Any
) -> None:
    """The pack rebuilds a spec from a descriptor by the builder's annotation, and asks before it compiles."""
    assert get_type_hints(build)["spec"] is spec_type
    wide = candidate.select_spec(request("x86-64-v4"))
    assert supports(wide, arch="x86-64-v4") == (True, "")
    assert supports(wide, arch="gfx942") == (False, f"{spec_type.ALGORITHM} is not written for gfx942")
    refusal = "a vector fits a register: vec=16, vector_bytes=16"
    assert supports(wide, arch="x86-64-generic") == (False, refusal)
    with pytest.raises(ValueError, match=refusal):
        build(wide, arch="x86-64-generic")
    with pytest.raises(ValueError, match="vec=True is not of type int"):
        replace(wide, vec=True)


def test_every_production_spec_is_buildable_on_its_target() -> None:
    for arch in ARCHES:
        for b_layout in ("row", "col"):
            asked = request(arch, b_layout=b_layout)
            for candidate, supports in ((BLOCKED, supports_gemm_blocked), (SKINNY, supports_gemm_skinny)):
                for spec in candidate.sweep_space(asked):
                    assert supports(spec, arch=arch) == (True, "")


VALUES = st.one_of(st.integers(-5, 10**6), st.floats(), st.text(max_size=3), st.booleans())
NAMES = st.sampled_from(
    ["batch", "m", "n", "k", "b_layout", "vec", "reg_m", "reg_v", "block_n", "block_k", "rows", "streams", "max_m"]
)


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES))
def test_a_score_is_a_number_whatever_the_metadata(metadata: dict[str, Any], problem: dict[str, Any]) -> None:
    score = ADAPTER.score(metadata, problem)
    assert score >= 0


def score(candidate: Any, m: int, **knobs: Any) -> float:
    asked = request("x86-64-v4", m=m, n=4096, k=4096, tuning_knobs=tuple(sorted(knobs.items())))
    spec = candidate.select_spec(asked)
    metadata = {field.name: getattr(spec, field.name) for field in fields(spec)} | {"max_m": spec.max_m()}
    return ADAPTER.score(metadata, {"batch": 1, "b_layout": "row", "m": m, "n": 4096, "k": 4096})


def test_scores_prefer_the_kernel_made_for_the_shape() -> None:
    """Before anything was measured, the engine runs what ranks first."""
    assert score(SKINNY, 1) > score(BLOCKED, 1)
    assert score(SKINNY, 1, rows=1) > score(SKINNY, 1, rows=8)
    assert score(BLOCKED, 4, reg_m=4) > score(BLOCKED, 4, reg_m=12, reg_v=2)
    assert score(BLOCKED, 96) > score(BLOCKED, 96, vec=4)
    assert score(BLOCKED, 96) > score(BLOCKED, 96, reg_m=1)
