"""A graph that the attention family would compute wrongly must be declined with its reason, never guessed at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from family_kernels import sdpa_graph

from winnow.families.adapter import Declined
from winnow.families.attention import ADAPTER, AttentionRequest

DIMS = {"q": (2, 6, 5, 64), "k": (2, 3, 9, 64), "v": (2, 3, 9, 64), "o": (2, 6, 5, 64)}


def test_a_problem_says_sizes_mask_scale_and_strides() -> None:
    strides = {"q": (2000, 64, 400, 1), "k": (1800, 600, 64, 1)}
    problem = ADAPTER.problem(sdpa_graph(DIMS, strides, causal_mask=True, attn_scale_value=0.5))
    assert problem.fields == {
        "dtype": "FLOAT",
        "batch": 2,
        "num_query_heads": 6,
        "num_kv_heads": 3,
        "seqlen_q": 5,
        "seqlen_kv": 9,
        "head_size": 64,
        "causal": 1,
        "causal_offset": 0,
        "scale": 0.5,
        "stride_qb": 2000,
        "stride_qh": 64,
        "stride_qs": 400,
        "stride_kb": 1800,
        "stride_kh": 600,
        "stride_ks": 64,
        "stride_vb": 1728,
        "stride_vh": 576,
        "stride_vs": 64,
        "stride_ob": 1920,
        "stride_oh": 320,
        "stride_os": 64,
    }
    assert problem.flops == 4 * 2 * 6 * 64 * (1 + 2 + 3 + 4 + 5)
    assert [(o.role, o.output) for o in problem.operands] == [("q", False), ("k", False), ("v", False), ("o", True)]
    assert ADAPTER.request(problem, "x86-64-v2") == AttentionRequest(
        arch="x86-64-v2",
        batch=2,
        num_query_heads=6,
        num_kv_heads=3,
        seqlen_q=5,
        seqlen_kv=9,
        head_size=64,
        causal=1,
    )


@pytest.mark.parametrize(
    ("options", "causal", "offset"),
    [
        ({}, 0, 8),
        ({"causal_mask": False, "causal_mask_bottom_right": False, "right_bound": None}, 0, 8),
        ({"causal_mask": True}, 1, 0),
        ({"causal_mask": True, "right_bound": 0}, 1, 0),
        ({"causal_mask": True, "diagonal_alignment": "BOTTOM_RIGHT"}, 1, 4),
        ({"causal_mask_bottom_right": True}, 1, 4),
        ({"right_bound": 0}, 1, 0),
        ({"right_bound": 3}, 1, 3),
        ({"right_bound": 3, "diagonal_alignment": "BOTTOM_RIGHT"}, 1, 7),
        ({"right_bound": 4, "diagonal_alignment": "BOTTOM_RIGHT"}, 0, 8),  # hides nothing
    ],
)
def test_masks_are_one_diagonal(options: dict[str, Any], causal: int, offset: int) -> None:
    fields = ADAPTER.problem(sdpa_graph(DIMS, **options)).fields
    assert (fields["causal"], fields["causal_offset"]) == (causal, offset)


def test_decoding_one_token_needs_no_causal_kernel() -> None:
    """Bottom right, the newest query sees every key, so that the kernels without a mask serve it."""
    dims = {**DIMS, "q": (2, 6, 1, 64), "o": (2, 6, 1, 64)}
    assert ADAPTER.problem(sdpa_graph(dims, causal_mask_bottom_right=True)).fields["causal"] == 0
    assert ADAPTER.problem(sdpa_graph(dims, causal_mask=True)).fields["causal"] == 1


def test_without_a_scale_it_is_one_over_the_root_of_the_head_size() -> None:
    assert ADAPTER.problem(sdpa_graph(DIMS)).fields["scale"] == 1 / math.sqrt(64)


def changed(**dims: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {**DIMS, **dims}


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (sdpa_graph(changed(attn_mask=(1, 1, 5, 9))), "the kernels have no attn_mask"),
        (sdpa_graph(changed(stats=(2, 6, 5, 1))), "the kernels have no stats"),
        (sdpa_graph(changed(page_table_k=(1, 1, 1, 1))), "the kernels have no page_table_k"),
        (sdpa_graph(changed(descale_q=(1, 1, 1, 1))), "the kernels have no descale_q"),
        (sdpa_graph(changed(scale=(1, 1, 1, 1))), "the kernels have no scale"),
        (sdpa_graph(DIMS, generate_stats=True), "generate_stats is True; the kernels do not have that"),
        (sdpa_graph(DIMS, alibi_mask=True), "alibi_mask is True; the kernels do not have that"),
        (sdpa_graph(DIMS, padding_mask=True), "padding_mask is True; the kernels do not have that"),
        (sdpa_graph(DIMS, dropout_probability=0.1), "dropout_probability is 0.1; the kernels do not have that"),
        (sdpa_graph(DIMS, left_bound=128), "left_bound is 128; the kernels do not have that"),
        (sdpa_graph(DIMS, max_seq_len_kv=9), "max_seq_len_kv is 9; the kernels do not have that"),
        (sdpa_graph(DIMS, mma_core_mode="half"), "mma_core_mode is 'half'; the kernels do not have that"),
        (sdpa_graph(DIMS, right_bound=-1), "right_bound is -1; the kernels take 0 or more"),
        (sdpa_graph(DIMS, causal_mask=True, right_bound=2), "a causal mask together with right_bound 2"),
        (
            sdpa_graph(DIMS, causal_mask=True, diagonal_alignment="MIDDLE"),
            "diagonal_alignment is 'MIDDLE'; the kernels know TOP_LEFT and BOTTOM_RIGHT",
        ),
        (
            sdpa_graph(changed(v=(2, 3, 9, 32))),
            "heads of 64 elements in q and 32 in v; the kernels take one head size",
        ),
        (
            sdpa_graph(changed(k=(2, 3, 8, 64))),
            "dims do not fit together: q [2, 6, 5, 64], k [2, 3, 8, 64], v [2, 3, 9, 64], o [2, 6, 5, 64]",
        ),
        (
            sdpa_graph(changed(k=(2, 4, 9, 64), v=(2, 4, 9, 64))),
            "6 query heads are not a multiple of 4 key heads",
        ),
        (sdpa_graph(changed(q=(6, 5, 64))), "q has rank 3; the kernels take batch, head, sequence, element"),
        (
            sdpa_graph(DIMS, {"v": (1728, 576, 1, 9)}),
            "v is not contiguous along the head (stride 9)",
        ),
        (
            sdpa_graph(DIMS, {"o": (1920, 320, 60, 1)}),
            "elements of o share memory (dims [2, 6, 5, 64], strides [1920, 320, 60, 1])",
        ),
    ],
)
def test_what_the_kernels_cannot_do_is_declined(graph: Any, reason: str) -> None:
    with pytest.raises(Declined) as declined:
        ADAPTER.problem(graph)
    assert str(declined.value) == reason


def test_the_reference_is_the_plain_double_loop() -> None:
    problem = ADAPTER.problem(sdpa_graph(DIMS, causal_mask=True, diagonal_alignment="BOTTOM_RIGHT"))
    inputs = ADAPTER.inputs(problem, 1)
    q, k, v = (inputs[role].astype(float) for role in ("q", "k", "v"))
    true = ADAPTER.reference(problem, inputs)["o"]
    for b, h, i in np.ndindex(2, 6, 5):
        seen = range(i + 4 + 1)
        weights = [math.exp(q[b, h, i] @ k[b, h // 2, j] / 8) for j in seen]
        plain = sum(w * v[b, h // 2, j] for w, j in zip(weights, seen, strict=True)) / sum(weights)
        assert true[b, h, i] == pytest.approx(plain, rel=1e-12, abs=1e-13)


def test_inputs_depend_on_the_seed_alone() -> None:
    problem = ADAPTER.problem(sdpa_graph(DIMS))
    one, again, other = (ADAPTER.inputs(problem, seed) for seed in (5, 5, 6))
    assert all(np.array_equal(one[role], again[role]) for role in ("q", "k", "v"))
    assert not np.array_equal(one["k"], other["k"])
    assert {array.dtype for array in one.values()} == {np.dtype(np.float32)}
