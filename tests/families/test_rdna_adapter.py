"""A graph that the RDNA kernels would compute wrongly must be declined with its reason, never guessed at."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rdna_kernels import rdna_graph, rdna_request

from winnow.families.adapter import Declined
from winnow.families.attention_rdna import ADAPTER
from winnow.families.halves import bfloat16_bits, bfloat16_values

DIMS: dict[str, tuple[int, ...]] = {"q": (2, 6, 5, 48), "k": (2, 3, 9, 48), "v": (2, 2, 9, 32), "o": (2, 6, 5, 32)}


def test_a_problem_says_sizes_band_scale_and_strides() -> None:
    strides = {"q": (1728, 48, 288, 1), "v": (640, 320, 1, 9)}
    graph = rdna_graph(DIMS, strides, causal_mask_bottom_right=True, attn_scale_value=0.5)
    problem = ADAPTER.problem(graph)
    assert problem.fields == {
        "dtype": "HALF",
        "batch": 2,
        "num_query_heads": 6,
        "num_k_heads": 3,
        "num_v_heads": 2,
        "seqlen_q": 5,
        "seqlen_kv": 9,
        "head_size_qk": 48,
        "head_size_v": 32,
        "head_granule": 16,
        "mask": 1,
        "band_low": -5,
        "band_high": 4,
        "bias": "NONE",
        "scale": 0.5,
        **{f"stride_q{dim}": stride for dim, stride in zip("bhsd", (1728, 48, 288, 1), strict=True)},
        **{f"stride_k{dim}": stride for dim, stride in zip("bhsd", (1296, 432, 48, 1), strict=True)},
        **{f"stride_v{dim}": stride for dim, stride in zip("bhsd", (640, 320, 1, 9), strict=True)},
        **{f"stride_o{dim}": stride for dim, stride in zip("bhsd", (960, 160, 32, 1), strict=True)},
    }
    assert problem.flops == 2 * 2 * 6 * (48 + 32) * (5 + 6 + 7 + 8 + 9)
    assert ADAPTER.request(problem, "gfx12-generic") == rdna_request(
        "gfx12-generic",
        batch=2,
        num_query_heads=6,
        num_k_heads=3,
        num_v_heads=2,
        seqlen_q=5,
        seqlen_kv=9,
        head_size_qk=48,
        head_size_v=32,
        mask="band",
        width=64,
        width_step=16,
    )


def test_a_bias_is_repeated_where_it_has_one_element() -> None:
    """A stride that is not 0 along such a dim would read another head's bias, or past the end."""
    dims = {**DIMS, "attn_mask": (1, 6, 1, 9)}
    fields = ADAPTER.problem(rdna_graph(dims, types={"attn_mask": "float"})).fields
    assert fields["bias"] == "FLOAT"
    assert [fields[f"stride_m{dim}"] for dim in "bhqk"] == [0, 9, 0, 1]
    assert ADAPTER.problem(rdna_graph(dims)).fields["bias"] == "SAME"


@pytest.mark.parametrize(
    ("options", "mask", "low", "high"),
    [
        ({}, 0, -5, 9),
        ({"causal_mask": True}, 1, -5, 0),
        ({"causal_mask_bottom_right": True}, 1, -5, 4),
        ({"right_bound": 8}, 0, -5, 8),  # hides nothing
        ({"right_bound": 7}, 1, -5, 7),
        ({"left_bound": 0, "right_bound": 0}, 2, 0, 0),  # each query sees one key
        ({"left_bound": 3}, 2, -3, 9),
        ({"left_bound": 4}, 0, -4, 9),  # the last query's place is 4: nothing lies before it
        ({"left_bound": 2, "causal_mask": True, "diagonal_alignment": "BOTTOM_RIGHT"}, 2, 2, 4),
        ({"left_bound": 8, "right_bound": 1, "diagonal_alignment": "BOTTOM_RIGHT"}, 1, -4, 5),
    ],
)
def test_masks_are_a_band(options: dict[str, Any], mask: int, low: int, high: int) -> None:
    fields = ADAPTER.problem(rdna_graph(DIMS, **options)).fields
    assert (fields["mask"], fields["band_low"], fields["band_high"]) == (mask, low, high)


def _dims(**changes: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {**DIMS, **changes}


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (
            rdna_graph(DIMS, types=dict.fromkeys(DIMS, "float")),
            "q is of type float; the kernels take half and bfloat16",
        ),
        (rdna_graph(DIMS, types={"v": "bfloat16"}), "v is of type bfloat16, q of half; the kernels take one"),
        (
            rdna_graph(_dims(q=(2, 5, 5, 48), o=(2, 5, 5, 32))),
            "5 query heads are not a multiple of 3 heads of k",
        ),
        (
            rdna_graph(_dims(q=(2, 3, 5, 48), o=(2, 3, 5, 32))),
            "3 query heads are not a multiple of 2 heads of v",
        ),
        (
            rdna_graph(_dims(q=(2, 6, 5, 40), k=(2, 3, 9, 40))),
            "heads of 40 elements in q and k; the kernels take multiples of 16 up to 256",
        ),
        (
            rdna_graph(_dims(k=(2, 3, 8, 48))),
            "dims do not fit together: q [2, 6, 5, 48], k [2, 3, 8, 48], v [2, 2, 9, 32], o [2, 6, 5, 32]",
        ),
        (
            rdna_graph(DIMS, {"k": (1296, 432, 0, 1)}),
            "elements of k share memory (dims [2, 3, 9, 48], strides [1296, 432, 0, 1])",
        ),
        (
            rdna_graph(DIMS, {"k": (1 << 30, 1 << 28, 1 << 22, 1)}),
            "stride 4194304 of dim 2 of k; the kernels take 0 to 2097152",
        ),
        (
            rdna_graph(_dims(attn_mask=(2, 3, 5, 9))),
            "attn_mask has dims [2, 3, 5, 9], the scores [2, 6, 5, 9]: it cannot be repeated",
        ),
        (
            rdna_graph(_dims(attn_mask=(2, 1, 5, 9)), types={"attn_mask": "bfloat16"}),
            "attn_mask is of type bfloat16; the kernels add float or half",
        ),
        (
            rdna_graph(_dims(attn_mask=(1, 1, 5, 9)), {"attn_mask": (0, 0, 9, -1)}),
            "stride -1 of dim 3 of attn_mask; the kernels take 0 to 2097152",
        ),
        (rdna_graph(DIMS, left_bound=-1), "left_bound is -1; the kernels take 0 or more"),
        (rdna_graph(DIMS, dropout_probability=0.1), "dropout_probability is 0.1; the kernels do not have that"),
        (rdna_graph(_dims(seq_len_q=(2, 1, 1, 1))), "the kernels have no seq_len_q"),
    ],
)
def test_graphs_outside_are_declined_with_the_reason(graph: Any, reason: str) -> None:
    with pytest.raises(Declined) as declined:
        ADAPTER.problem(graph)
    assert str(declined.value) == reason


def test_tensors_that_no_kernel_reads_are_declined() -> None:
    for change, reason in (
        ({"value": 1.0}, "q is a constant"),
        ({"virtual": True}, "q is virtual: it has no memory"),
        ({"alignment": 2}, "q starts at a multiple of 2 bytes; the kernels need 16"),
    ):
        graph = rdna_graph(DIMS)
        tensors = (replace(graph.tensors[0], **change), *graph.tensors[1:])
        with pytest.raises(Declined) as declined:
            ADAPTER.problem(replace(graph, tensors=tensors))
        assert str(declined.value) == reason


def test_the_reference_is_attention_key_by_key() -> None:
    """The truth that kernels are judged by, computed another way: loops over what each query sees."""
    dims = {**DIMS, "attn_mask": (1, 6, 5, 9)}
    graph = rdna_graph(
        dims, types={"attn_mask": "float"}, left_bound=1, right_bound=0, diagonal_alignment="BOTTOM_RIGHT"
    )
    problem = ADAPTER.problem(graph)
    inputs = ADAPTER.inputs(problem, seed=3)
    assert {role: array.dtype.name for role, array in inputs.items()} == {
        "q": "float16",
        "k": "float16",
        "v": "float16",
        "attn_mask": "float32",
    }
    got = ADAPTER.reference(problem, inputs)["o"]
    q, k, v, bias = (inputs[role].astype(np.float64) for role in ("q", "k", "v", "attn_mask"))
    for b, h, i in np.ndindex(2, 6, 5):
        seen = range(i + 3, i + 5)
        scores = [q[b, h, i] @ k[b, h // 2, j] / math.sqrt(48) + bias[0, h, i, j] for j in seen]
        weights = [math.exp(score) for score in scores]
        expected = sum(w * v[b, h // 3, j] for w, j in zip(weights, seen, strict=True)) / sum(weights)
        np.testing.assert_allclose(got[b, h, i], expected, rtol=1e-12)


def test_a_query_that_sees_no_key_yields_zeros() -> None:
    dims = {"q": (1, 1, 6, 16), "k": (1, 1, 2, 16), "v": (1, 1, 2, 16), "o": (1, 1, 6, 16)}
    problem = ADAPTER.problem(rdna_graph(dims, causal_mask_bottom_right=True))
    got = ADAPTER.reference(problem, ADAPTER.inputs(problem, seed=1))["o"]
    assert np.flatnonzero(got.any(axis=(0, 1, 3))).tolist() == [4, 5]


def test_bf16_is_rounded_to_the_nearest_even() -> None:
    """A wrong rounding would make right kernels look wrong by one unit in the last place."""
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -2.5, np.inf, 0.0], np.float32)
    expected = np.array([1.0, 1.0, 1 + 2**-6, 1 + 2**-7, -2.5, np.inf, 0.0], np.float32)
    assert bfloat16_values(bfloat16_bits(values)).tolist() == expected.tolist()
    assert np.isnan(bfloat16_values(bfloat16_bits(np.array([np.nan, -np.nan], np.float32)))).all()
