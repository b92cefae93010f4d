"""The attention registry must offer real choices, name each one uniquely, and refuse what it does not have by name."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.families.attention import ADAPTER, REGISTRY, AttentionRequest
from winnow.families.attention.decode import build_attention_decode, supports_attention_decode
from winnow.families.attention.prefill import build_attention_prefill, supports_attention_prefill
from winnow.families.attention.spec import DecodeSpec, PrefillSpec
from winnow.registry.testing import assert_tuning_contract

PREFILL = REGISTRY.get("attention_cpu_prefill")
DECODE = REGISTRY.get("attention_cpu_decode")
ARCHES = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-generic")


def request(arch: str = "x86-64-v3", **changes: Any) -> AttentionRequest:
    sizes = {"num_query_heads": 32, "num_kv_heads": 8, "seqlen_q": 1, "seqlen_kv": 512, "head_size": 128}
    return AttentionRequest(**{"arch": arch, **sizes, **changes})


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("head_size", [64, 128])
def test_candidates_keep_the_tuning_contract(arch: str, head_size: int) -> None:
    asked = request(arch, head_size=head_size, causal=1)
    for candidate, refused in ((PREFILL, {"reg_v": 5}), (DECODE, {"group_rows": 3})):
        default = dict(candidate.select_spec(asked).knobs)
        checked = assert_tuning_contract(
            candidate,
            [asked],
            other_requests=[replace(asked, batch=3, seqlen_kv=77)],
            default_knobs=[{}, default],
            refused_knobs=[refused, {"vec": 32}, {"exp": "table"}, {"no_such_knob": 1}],
        )
        assert checked["specs"] > 20
        assert checked["portable"] == checked["replays"]


@pytest.mark.parametrize("arch", ARCHES)
def test_the_spaces_hold_thousands_of_variants(arch: str) -> None:
    for candidate in (PREFILL, DECODE):
        count = sum(candidate.space(request(arch, head_size=size)).count() for size in (64, 128))
        assert count > 3_000


def test_few_queries_go_to_decode_and_many_to_prefill() -> None:
    assert REGISTRY.select(request(seqlen_q=4)).candidate is DECODE
    assert REGISTRY.select(request(seqlen_q=5)).candidate is PREFILL
    assert REGISTRY.select(request(seqlen_q=1, algorithm="attention_prefill")).candidate is PREFILL


@pytest.mark.parametrize(
    ("candidate", "changes", "reason"),
    [
        (PREFILL, {"tuning_knobs": (("exp", "table"),)}, "exp='table' is not one of 'poly', 'libm'"),
        (
            PREFILL,
            {"tuning_knobs": (("block_q", 64),)},
            'attention_prefill has no knob "block_q"; did you mean "block_n"?',
        ),
        (
            PREFILL,
            {"tuning_knobs": (("block_m", 64), ("reg_v", 3))},
            "block_m is a whole number of register tiles: block_m=64, reg_v=3, vec=8",
        ),
        (
            PREFILL,
            {"tuning_knobs": (("block_m", 128), ("block_n", 256))},
            "the tile's queries, sums and scores fit half of the second cache: "
            "block_m=128, block_n=256, head_size=128, l2_bytes=262144",
        ),
        (
            DECODE,
            {"tuning_knobs": (("group_rows", 16),)},
            "the sums of all rows fit the registers: group_rows=16, reg_v=2, registers=16",
        ),
        (
            DECODE,
            {"tuning_knobs": (("max_q", 1),), "seqlen_q": 3},
            "the kernel takes at least seqlen_q queries: max_q=1, seqlen_q=3",
        ),
        (DECODE, {"seqlen_q": 5}, "capability: seqlen_q=5 is above 4"),
        (DECODE, {"head_size": 80}, "capability: head_size=80 is not one of [64, 128]"),
        (
            PREFILL,
            {"num_kv_heads": 5},
            "capability: num_query_heads multiple_of num_kv_heads does not hold (32, 5)",
        ),
        (PREFILL, {"causal": 2}, "causal=2 is not 0 or 1"),
        (PREFILL, {"dtype": "bf16"}, "capability: dtype bf16 is not one of ['fp32']"),
    ],
)
def test_what_the_kernels_do_not_have_is_refused_with_the_reason(
    candidate: Any, changes: dict[str, Any], reason: str
) -> None:
    assert candidate.admits(request(**changes)) == (False, reason)


def test_causal_may_be_said_as_a_bool() -> None:
    """Manifests write true and false; the kernel of `true` must be the kernel of 1."""
    assert request(causal=True) == request(causal=1)
    assert PREFILL.select_spec(request(causal=True)).causal == 1


@pytest.mark.parametrize("candidate", [PREFILL, DECODE], ids=lambda c: c.name)
def test_every_field_shapes_the_name(candidate: Any) -> None:
    spec = candidate.select_spec(request("x86-64-v4"))
    names = {spec.kernel_name()}
    for field in fields(spec):
        value = getattr(spec, field.name)
        names.add(replace(spec, **{field.name: value + 1 if isinstance(value, int) else value + "x"}).kernel_name())
    assert len(names) == 1 + len(fields(spec))
    assert spec.kernel_name().isidentifier()
    assert len(spec.kernel_name()) < 128


def test_accessors_say_how_many_queries_a_kernel_takes() -> None:
    assert PREFILL.select_spec(request()).max_seqlen_q() == 2**31 - 1
    assert DECODE.select_spec(request(seqlen_q=1)).max_seqlen_q() == 1
    assert DECODE.select_spec(request(seqlen_q=2)).max_seqlen_q() == 4


@pytest.mark.parametrize(
    ("build", "supports", "spec_type", "candidate"),
    [
        (build_attention_prefill, supports_attention_prefill, PrefillSpec, PREFILL),
        (build_attention_decode, supports_attention_decode, DecodeSpec, DECODE),
    ],
)
def test_a_builder_says_its_spec_and_refuses_what_it_cannot_build(
    build: Any, supports: Any, spec_type: Any, candidate: Any
) -> None:
    assert get_type_hints(build)["spec"] is spec_type
    wide = candidate.select_spec(request("x86-64-v4"))
    assert supports(wide, arch="x86-64-v4") == (True, "")
    assert supports(wide, arch="gfx942") == (False, f"{spec_type.ALGORITHM} is not written for gfx942")
    refusal = "a vector fits a register: vec=16, vector_bytes=16"
    assert supports(wide, arch="x86-64-generic") == (False, refusal)
    with pytest.raises(ValueError, match=refusal):
        build(wide, arch="x86-64-generic")


def test_every_production_spec_is_buildable_on_its_target() -> None:
    for arch in ARCHES:
        for size in (64, 128):
            asked = request(arch, head_size=size)
            for candidate, supports in ((PREFILL, supports_attention_prefill), (DECODE, supports_attention_decode)):
                for spec in candidate.sweep_space(asked):
                    assert supports(spec, arch=arch) == (True, "")


VALUES = st.one_of(st.integers(-5, 10**6), st.floats(), st.text(max_size=3), st.booleans())
NAMES = st.sampled_from(
    [
        *("num_query_heads", "num_kv_heads", "seqlen_q", "seqlen_kv", "head_size", "causal", "max_seqlen_q"),
        *("vec", "reg_m", "reg_v", "block_m", "block_n", "group_rows", "exp"),
    ]
)


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES))
def test_a_score_is_a_number_whatever_the_metadata(metadata: dict[str, Any], problem: dict[str, Any]) -> None:
    assert ADAPTER.score(metadata, problem) >= 0


def score(candidate: Any, queries: int, **knobs: Any) -> float:
    asked = request("x86-64-v4", seqlen_q=queries, tuning_knobs=tuple(sorted(knobs.items())))
    spec = candidate.select_spec(asked)
    metadata = {field.name: getattr(spec, field.name) for field in fields(spec)}
    problem = {**asked.dims(), "causal": 0}
    return ADAPTER.score({**metadata, "max_seqlen_q": spec.max_seqlen_q()}, problem)


def test_scores_prefer_the_kernel_made_for_the_shape() -> None:
    """Before anything was measured, the engine runs what ranks first."""
    assert score(DECODE, 1) > score(PREFILL, 1)
    assert score(DECODE, 1, group_rows=4) > score(DECODE, 1, group_rows=1)
    assert score(PREFILL, 128) > score(PREFILL, 128, vec=4)
    assert score(PREFILL, 128) > score(PREFILL, 128, exp="libm")
    assert score(PREFILL, 20, block_m=32) > score(PREFILL, 20, block_m=64, reg_m=4, reg_v=4)
