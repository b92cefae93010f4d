"""An attention kernel that is wrong for some knobs, masks, sizes or strides would be caught here, before a sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from family_kernels import LEVELS, Bench, contiguous, runnable, sdpa_graph

from winnow.compilers.c import compile_c
from winnow.compilers.source import CSource, Parameter
from winnow.families.attention import ADAPTER, REGISTRY, AttentionRequest
from winnow.families.cpu import kernel_text
from winnow.graphs.model import Graph
from winnow.runtime.execution import Execution

ARCHES = LEVELS  # the generic target is compiled as the first of them
PREFILL = REGISTRY.get("attention_cpu_prefill")
DECODE = REGISTRY.get("attention_cpu_decode")
TOP_LEFT = {"causal_mask": True}
BOTTOM_RIGHT = {"causal_mask": True, "diagonal_alignment": "BOTTOM_RIGHT"}


def attention(batch: int, heads: int, key_heads: int, queries: int, keys: int, size: int = 64, **options: Any) -> Graph:
    dims = {
        "q": (batch, heads, queries, size),
        "k": (batch, key_heads, keys, size),
        "v": (batch, key_heads, keys, size),
        "o": (batch, heads, queries, size),
    }
    return sdpa_graph(dims, **options)


def request(arch: str, **changes: Any) -> AttentionRequest:
    sizes = {"num_query_heads": 4, "num_kv_heads": 2, "seqlen_q": 1, "seqlen_kv": 64, "head_size": 64}
    return AttentionRequest(**{"arch": arch, **sizes, **changes})


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("head_size", [64, 128])
@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("chosen", [PREFILL, DECODE], ids=lambda c: c.algorithm)
def test_variants_drawn_from_the_whole_space_are_right(
    bench: Bench, chosen: Any, arch: str, head_size: int, causal: int
) -> None:
    if not runnable(arch, bench.device):
        pytest.skip(f"this machine does not run {arch}")
    asked = request(arch, head_size=head_size, causal=causal)
    for point in chosen.space(asked).sample(1, seed=11):
        spec = chosen.select_spec(replace(asked, tuning_knobs=tuple(sorted(point.items()))))
        queries = spec.max_q if chosen is DECODE else spec.block_m + 9
        options = BOTTOM_RIGHT if causal else {}
        graph = attention(2, 6, 2, queries, spec.block_n + 21, head_size, **options)
        verdict = bench.judge(ADAPTER, chosen, spec, arch, graph)
        assert verdict.state == "passed", (spec.kernel_name(), verdict.detail)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("chosen", [PREFILL, DECODE], ids=lambda c: c.algorithm)
def test_the_default_kernel_takes_any_size(bench: Bench, chosen: Any, causal: int) -> None:
    """Grouped heads (1, 4 and 8 to a key head), single queries and keys, batches, more queries than keys."""
    sizes = [
        (1, 1, 1, 1, 1),
        (2, 4, 4, 1, 97),
        (1, 8, 2, 3, 3),
        (2, 8, 1, 4, 130),
        (1, 7, 1, 2, 65),
        *([] if chosen is DECODE else [(2, 4, 1, 150, 70), (1, 8, 8, 65, 200), (1, 2, 1, 200, 1)]),
    ]
    for mask in (TOP_LEFT, BOTTOM_RIGHT) if causal else ({},):
        for batch, heads, key_heads, queries, keys in sizes:
            graph = attention(batch, heads, key_heads, queries, keys, **mask)
            asked = ADAPTER.request(ADAPTER.problem(graph), bench.device.arch)
            spec = chosen.select_spec(replace(asked, causal=causal))
            verdict = bench.judge(ADAPTER, chosen, spec, bench.device.arch, graph)
            assert verdict.state == "passed", (mask, batch, heads, key_heads, queries, keys, verdict.detail)


@pytest.mark.parametrize("chosen", [PREFILL, DECODE], ids=lambda c: c.algorithm)
def test_queries_that_see_no_key_yield_zeros(bench: Bench, chosen: Any) -> None:
    """With four queries and two keys, bottom right, the first two queries come before every key."""
    problem = ADAPTER.problem(attention(1, 2, 1, 4, 2, **BOTTOM_RIGHT))
    assert problem.fields["causal_offset"] == -2
    asked = ADAPTER.request(problem, bench.device.arch)
    spec = chosen.select_spec(asked)
    with Execution(bench.device, ADAPTER, problem, seed=1) as execution:
        module = bench.module(chosen, spec, bench.device.arch)
        assert execution.verify(module, chosen.grid(spec, asked)).state == "passed"
        assert (execution.reference["o"][:, :, :2] == 0).all()
        outputs = execution.buffers["o"].bytes_.view(np.float32).reshape(1, 2, 4, 64)
        assert (outputs[:, :, :2] == 0).all()
        assert (outputs[:, :, 2:] != 0).all()


@pytest.mark.parametrize("exp", ["poly", "libm"])
@pytest.mark.parametrize("chosen", [PREFILL, DECODE], ids=lambda c: c.algorithm)
def test_heads_lie_apart_in_memory(bench: Bench, chosen: Any, exp: str) -> None:
    """Batch, sequence, head, element, as fused projections leave it, with room between sequences."""
    batch, heads, key_heads, queries, keys, size = 2, 4, 2, 3, 70, 64

    def between(count: int, length: int) -> tuple[int, int, int, int]:
        return (length * (count * size + 8) + 16, size, count * size + 8, 1)

    graph = sdpa_graph(
        {
            "q": (batch, heads, queries, size),
            "k": (batch, key_heads, keys, size),
            "v": (batch, key_heads, keys, size),
            "o": (batch, heads, queries, size),
        },
        {
            "q": between(heads, queries),
            "k": between(key_heads, keys),
            "v": contiguous((batch, key_heads, keys, size)),
            "o": between(heads, queries),
        },
        **BOTTOM_RIGHT,
    )
    asked = ADAPTER.request(ADAPTER.problem(graph), bench.device.arch)
    spec = chosen.select_spec(replace(asked, tuning_knobs=(("exp", exp),)))
    verdict = bench.judge(ADAPTER, chosen, spec, bench.device.arch, graph)
    assert verdict.state == "passed", verdict.detail


@pytest.mark.parametrize("chosen", [PREFILL, DECODE], ids=lambda c: c.algorithm)
def test_large_scores_do_not_overflow(bench: Bench, chosen: Any) -> None:
    """Scores of hundreds: every weight but the largest vanishes, and 2^x must neither overflow nor go wrong."""
    graph = attention(1, 2, 1, 3, 300, attn_scale_value=25.0)
    asked = ADAPTER.request(ADAPTER.problem(graph), bench.device.arch)
    verdict = bench.judge(ADAPTER, chosen, chosen.select_spec(asked), bench.device.arch, graph)
    assert verdict.state == "passed", verdict.detail


EXP2_KERNEL = """
void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)
{
    for (int32_t i = 0; i < args->n; i += VEC)
        store((float *)args->y + i, exp2_lanes(load((const float *)args->x + i)));
}
"""


@pytest.mark.parametrize("vec", [4, 8, 16])
@pytest.mark.parametrize("poly", [1, 0])
def test_weights_are_powers_of_two_to_the_last_digits(bench: Bench, vec: int, poly: int) -> None:
    """0 and the whole range down to the least normal number, -inf as exactly nothing, and NaN as NaN."""
    x = np.concatenate([np.linspace(-126, 0, 4093), [-np.inf, -1e30, np.nan]]).astype(np.float32)
    source = CSource(
        symbol="exp2_lanes_of_all",
        text=kernel_text("attention", "softmax.h") + EXP2_KERNEL,
        parameters=(Parameter("x", "ptr"), Parameter("y", "ptr"), Parameter("n", "i32")),
        defines=(("VEC", vec), ("EXP_POLY", poly)),
    )
    code = compile_c(source, bench.device.arch, bench.toolchain)
    module = bench.device.load(code.payload, code.symbol, code.signature)
    given, found = bench.device.allocate(x.nbytes), bench.device.allocate(x.nbytes)
    given.bytes_.view(np.float32)[:] = x
    bench.device.launch(module, {"x": given, "y": found, "n": x.size}, (1, 1, 1))
    y = found.bytes_.view(np.float32).copy()
    given.free()
    found.free()
    true = np.exp2(x[:-3].astype(np.float64))
    assert np.abs(y[:-3] / true - 1).max() < 2.5e-7
    assert y[-4] == 1.0
    assert (y[-3], y[-2]) == (0.0, 0.0)
    assert np.isnan(y[-1])


def test_a_masked_key_that_is_seen_is_not_within_tolerance() -> None:
    """One key too many of 4096 must be noticed."""
    problem = ADAPTER.problem(attention(1, 4, 1, 2, 4096, 128, **BOTTOM_RIGHT))
    inputs = ADAPTER.inputs(problem, seed=2)
    true = ADAPTER.reference(problem, inputs)["o"]
    moved = replace(problem, fields={**problem.fields, "causal_offset": problem.fields["causal_offset"] - 1})
    wrong = ADAPTER.reference(moved, inputs)["o"]
    rtol, atol = ADAPTER.tolerance(problem)
    assert (abs(wrong - true) > atol + rtol * abs(true)).any(axis=-1).all()
