"""A graph that the GEMM family would compute wrongly must be declined with its reason, never guessed at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from family_kernels import matmul_graph

from winnow.families.adapter import Declined
from winnow.families.gemm import ADAPTER, GemmRequest
from winnow.families.operands import overlaps

DIMS = ((2, 5, 7), (2, 7, 6), (2, 5, 6))


def test_a_problem_says_sizes_layout_and_strides() -> None:
    graph = matmul_graph(DIMS, ((40, 8, 1), (60, 1, 8), (100, 10, 1)))
    problem = ADAPTER.problem(graph)
    assert problem.fields == {
        "dtype": "FLOAT",
        "b_layout": "col",
        "batch": 2,
        "m": 5,
        "n": 6,
        "k": 7,
        "stride_ab": 40,
        "stride_am": 8,
        "stride_bb": 60,
        "stride_bk": 1,
        "stride_bn": 8,
        "stride_cb": 100,
        "stride_cm": 10,
    }
    assert problem.flops == 2 * 2 * 5 * 6 * 7
    assert [(o.role, o.dims, o.output) for o in problem.operands] == [
        ("a", DIMS[0], False),
        ("b", DIMS[1], False),
        ("c", DIMS[2], True),
    ]
    assert ADAPTER.request(problem, "x86-64-v3") == GemmRequest(
        arch="x86-64-v3", batch=2, m=5, n=6, k=7, b_layout="col"
    )


def test_rank_two_is_a_batch_of_one() -> None:
    fields = ADAPTER.problem(matmul_graph(((5, 7), (7, 6), (5, 6)))).fields
    assert (fields["batch"], fields["m"], fields["n"], fields["k"]) == (1, 5, 6, 7)
    assert (fields["stride_am"], fields["stride_bk"], fields["stride_cm"]) == (7, 6, 6)


@pytest.mark.parametrize(
    ("k", "n", "strides", "layout"),
    [
        (7, 6, (6, 1), "row"),
        (7, 6, (1, 7), "col"),
        (7, 1, (1, 99), "col"),  # one column, contiguous along k
        (7, 1, (5, 99), "row"),  # one column apart: only the row kernels take its stride
        (1, 6, (99, 1), "row"),
        (1, 6, (99, 5), "col"),
        (1, 1, (99, 99), "row"),
    ],
)
def test_the_layout_of_b_is_read_from_the_strides_that_matter(
    k: int, n: int, strides: tuple[int, int], layout: str
) -> None:
    graph = matmul_graph(((3, k), (k, n), (3, n)), ((k, 1), strides, (n, 1)))
    assert ADAPTER.problem(graph).fields["b_layout"] == layout


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (matmul_graph(DIMS, data_type="half"), "a is of type half; the kernels take float"),
        (matmul_graph(DIMS, virtual=True), "a is virtual: it has no memory"),
        (matmul_graph(DIMS, value=1.0), "a is a constant"),
        (matmul_graph(DIMS, compute="double"), "computes in double; the kernels compute in float"),
        (
            matmul_graph(((2, 5, 7), (2, 8, 6), (2, 5, 6))),
            "dims do not fit together: a [2, 5, 7], b [2, 8, 6], c [2, 5, 6]",
        ),
        (
            matmul_graph(((2, 5, 7), (3, 7, 6), (3, 5, 6))),
            "dims do not fit together: a [2, 5, 7], b [3, 7, 6], c [3, 5, 6]",
        ),
        (matmul_graph(((1, 1, 5, 7), (1, 1, 7, 6), (1, 1, 5, 6))), "ranks [4]; the kernels take rank 2 or 3"),
        (matmul_graph(((5, 7), (7, 6), (5, 6)), ((1, 5), (6, 1), (6, 1))), "a is not contiguous along k (stride 5)"),
        (matmul_graph(((5, 7), (7, 6), (5, 6)), ((7, 1), (6, 1), (1, 5))), "c is not contiguous along n (stride 5)"),
        (
            matmul_graph(((5, 7), (7, 6), (5, 6)), ((7, 1), (12, 2), (6, 1))),
            "b is contiguous neither along n nor along k (strides 2 and 12)",
        ),
        (
            matmul_graph(((5, 7), (7, 6), (5, 6)), ((7, 1), (6, 1), (3, 1))),
            "elements of c share memory (dims [5, 6], strides [3, 1])",
        ),
        (
            matmul_graph(((5, 2**31), (2**31, 6), (5, 6))),
            "a size is above 2147483647",
        ),
    ],
)
def test_what_the_kernels_cannot_do_is_declined(graph: Any, reason: str) -> None:
    with pytest.raises(Declined) as declined:
        ADAPTER.problem(graph)
    assert str(declined.value) == reason


def test_other_graphs_are_declined() -> None:
    graph = matmul_graph(DIMS)
    with pytest.raises(Declined, match="the graph has 2 nodes; kernels of one operation serve it alone"):
        ADAPTER.problem(replace(graph, nodes=graph.nodes * 2))
    other = replace(graph.nodes[0], type="PointwiseAttributes")
    with pytest.raises(Declined, match="the graph's node is PointwiseAttributes, not MatmulAttributes"):
        ADAPTER.problem(replace(graph, nodes=(other,)))


def test_inputs_depend_on_the_seed_alone_and_give_results_of_size_one() -> None:
    problem = ADAPTER.problem(matmul_graph(((64, 900), (900, 50), (64, 50))))
    one, again, other = (ADAPTER.inputs(problem, seed) for seed in (5, 5, 6))
    assert all(np.array_equal(one[role], again[role]) for role in ("a", "b"))
    assert not np.array_equal(one["b"], other["b"])
    assert {array.dtype for array in one.values()} == {np.dtype(np.float32)}
    assert 0.9 < ADAPTER.reference(problem, one)["c"].std() < 1.1


def test_the_reference_is_the_plain_double_loop() -> None:
    problem = ADAPTER.problem(matmul_graph(((2, 3, 4), (1, 4, 5), (2, 3, 5))))
    inputs = ADAPTER.inputs(problem, 1)
    true = ADAPTER.reference(problem, inputs)["c"]
    for b in range(2):
        for i in range(3):
            for j in range(5):
                terms = [float(inputs["a"][b, i, p]) * float(inputs["b"][0, p, j]) for p in range(4)]
                assert true[b, i, j] == pytest.approx(sum(terms), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize(
    ("dims", "strides", "shared"),
    [
        ((2, 3), (3, 1), False),
        ((2, 3), (2, 1), True),
        ((2, 3), (1, 2), False),
        ((2, 3), (0, 1), True),
        ((1, 3), (0, 1), False),
        ((2, 2, 2), (1, 2, 3), True),
        ((2, 2, 2), (1, 2, 4), False),
        ((2, 3), (-3, 1), True),
    ],
)
def test_elements_that_share_memory_are_found(dims: tuple[int, ...], strides: tuple[int, ...], shared: bool) -> None:
    assert overlaps(dims, strides) is shared
