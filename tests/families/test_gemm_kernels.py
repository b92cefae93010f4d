"""A GEMM kernel that is wrong for some knobs, sizes or strides would be caught here, before a user's sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from family_kernels import LEVELS, Bench, contiguous, matmul_graph, runnable

from winnow.families.gemm import ADAPTER, REGISTRY, GemmRequest
from winnow.graphs.model import Graph

ARCHES = LEVELS  # the generic target is compiled as the first of them
ROOMY = {"m": 1, "n": 768 * 16, "k": 512}
"""Sizes that admit every knob."""


def candidate(algorithm: str) -> Any:
    return next(c for c in REGISTRY.candidates() if c.algorithm == algorithm)


def product_graph(m: int, n: int, k: int, b_layout: str, batch: int = 1) -> Graph:
    strides = contiguous((batch, k, n)) if b_layout == "row" else (k * n, 1, k)
    return matmul_graph(
        ((batch, m, k), (batch, k, n), (batch, m, n)),
        (contiguous((batch, m, k)), strides, contiguous((batch, m, n))),
    )


def awkward_sizes(spec: Any) -> tuple[int, int, int]:
    """Sizes that leave a rest in every block and register tile, as far as the spec takes them."""
    if spec.ALGORITHM == "gemm_skinny":
        return max(1, spec.rows - 1), min(spec.block, 600) + 13, min(spec.block, 600) + 3
    n = spec.block_n + (13 if spec.edge else spec.n_multiple())
    return spec.block_m + 5, n, spec.block_k + 3


@pytest.mark.parametrize("b_layout", ["row", "col"])
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("algorithm", ["gemm_blocked", "gemm_skinny"])
def test_variants_drawn_from_the_whole_space_are_right(bench: Bench, algorithm: str, arch: str, b_layout: str) -> None:
    if not runnable(arch, bench.device):
        pytest.skip(f"this machine does not run {arch}")
    chosen = candidate(algorithm)
    request = GemmRequest(arch=arch, b_layout=b_layout, **ROOMY)
    for point in chosen.space(request).sample(2, seed=7):
        spec = chosen.select_spec(replace(request, tuning_knobs=tuple(sorted(point.items()))))
        m, n, k = awkward_sizes(spec)
        verdict = bench.judge(ADAPTER, chosen, spec, arch, product_graph(m, n, k, b_layout))
        assert verdict.state == "passed", (spec.kernel_name(), m, n, k, verdict.detail)


SIZES = [
    (1, 1, 1),
    (1, 1, 300),
    (1, 300, 1),
    (1, 7, 5),
    (2, 129, 17),
    (3, 64, 64),
    (4, 33, 260),
    (5, 1, 31),
    (8, 130, 70),
]


@pytest.mark.parametrize("b_layout", ["row", "col"])
@pytest.mark.parametrize("algorithm", ["gemm_blocked", "gemm_skinny"])
def test_the_default_kernel_takes_any_size(bench: Bench, algorithm: str, b_layout: str) -> None:
    chosen = candidate(algorithm)
    spec = chosen.select_spec(GemmRequest(arch=bench.device.arch, b_layout=b_layout, m=8, n=1, k=1))
    for m, n, k in SIZES:
        graph = product_graph(m, n, k, b_layout, batch=2)
        if ADAPTER.problem(graph).fields["b_layout"] != b_layout:
            continue  # with a single column or a single k the memory is the other layout as well
        verdict = bench.judge(ADAPTER, chosen, spec, bench.device.arch, graph)
        assert verdict.state == "passed", (m, n, k, verdict.detail)


@pytest.mark.parametrize("pack_a", [0, 1])
@pytest.mark.parametrize("pack_b", [0, 1])
@pytest.mark.parametrize("edge", [0, 1])
def test_blocked_takes_rows_apart_in_memory(bench: Bench, edge: int, pack_b: int, pack_a: int) -> None:
    """Rows of all three matrices lie further apart than they are long, as in slices of fused projections."""
    chosen = candidate("gemm_blocked")
    request = GemmRequest(arch=bench.device.arch, **ROOMY)
    knobs = {"edge": edge, "pack_a": pack_a, "pack_b": pack_b, "block_m": 48, "block_n": 192, "block_k": 64}
    spec = chosen.select_spec(replace(request, tuning_knobs=tuple(sorted(knobs.items()))))
    m, n, k = 53, 192 + (10 if edge else spec.n_multiple()), 70
    strides = ((m * 80 + 3, 80, 1), (k * 400 + 5, 400, 1), (m * 333 + 7, 333, 1))
    graph = matmul_graph(((2, m, k), (2, k, n), (2, m, n)), strides)
    verdict = bench.judge(ADAPTER, chosen, spec, bench.device.arch, graph)
    assert verdict.state == "passed", verdict.detail


@pytest.mark.parametrize("b_layout", ["row", "col"])
def test_skinny_takes_rows_apart_in_memory(bench: Bench, b_layout: str) -> None:
    chosen = candidate("gemm_skinny")
    m, n, k = 3, 200, 90
    spec = chosen.select_spec(GemmRequest(arch=bench.device.arch, b_layout=b_layout, m=m, n=n, k=k))
    strides_b = (k * 400 + 5, 400, 1) if b_layout == "row" else (n * 100 + 5, 1, 100)
    graph = matmul_graph(((2, m, k), (2, k, n), (2, m, n)), ((m * 100 + 3, 100, 1), strides_b, (m * 222 + 7, 222, 1)))
    verdict = bench.judge(ADAPTER, chosen, spec, bench.device.arch, graph)
    assert verdict.state == "passed", verdict.detail


def test_products_that_share_b_become_rows(bench: Bench) -> None:
    """Decoding a batch of 4 must stream the weights once, so the 4 products of one row are one product of 4."""
    graph = matmul_graph(((4, 1, 70), (1, 70, 50), (4, 1, 50)), ((70, 9999, 1), (0, 50, 1), (50, 7, 1)))
    fields = ADAPTER.problem(graph).fields
    assert (fields["batch"], fields["m"], fields["stride_am"], fields["stride_cm"]) == (1, 4, 70, 50)
    chosen = candidate("gemm_skinny")
    spec = chosen.select_spec(ADAPTER.request(ADAPTER.problem(graph), bench.device.arch))
    assert bench.judge(ADAPTER, chosen, spec, bench.device.arch, graph).state == "passed"


def test_products_that_share_b_at_a_distance_stay_apart(bench: Bench) -> None:
    graph = matmul_graph(((4, 2, 70), (1, 70, 50), (4, 2, 50)), ((200, 70, 1), (0, 50, 1), (100, 50, 1)))
    assert (ADAPTER.problem(graph).fields["batch"], ADAPTER.problem(graph).fields["m"]) == (4, 2)
    chosen = candidate("gemm_blocked")
    spec = chosen.select_spec(ADAPTER.request(ADAPTER.problem(graph), bench.device.arch))
    assert bench.judge(ADAPTER, chosen, spec, bench.device.arch, graph).state == "passed"


def test_a_wrong_product_is_not_within_tolerance(bench: Bench) -> None:
    """One term of k left out must be seen for the deepest product of the corpus."""
    graph = product_graph(1, 1, 14336, "row")
    problem = ADAPTER.problem(graph)
    inputs = ADAPTER.inputs(problem, seed=3)
    true = ADAPTER.reference(problem, inputs)["c"]
    inputs["a"][..., 5000] = 0
    rtol, atol = ADAPTER.tolerance(problem)
    error = abs(ADAPTER.reference(problem, inputs)["c"] - true)
    assert (error > 3 * (atol + rtol * abs(true))).all()
