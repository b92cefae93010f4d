"""Dense attention and graphs: what the kernels compute is what a graph asks, and nothing else is served."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from winnow.families.adapter import Declined
from winnow.families.attention_dense import ADAPTER, REGISTRY, DenseAttentionRequest
from winnow.families.attention_dense.forward import build_attention_dense
from winnow.families.attention_dense.probes import probe_graphs
from winnow.graphs.model import Graph
from winnow.interpreter.probe import Probe, run_probes

METADATA: dict[str, Any] = {
    "dtype": "FP16",
    "head_size": 64,
    "num_query_heads": 4,
    "num_kv_heads": 2,
    "causal": 1,
    "block_m": 32,
    "block_n": 32,
}


def graph(**changes: Any) -> Graph:
    return probe_graphs({**METADATA, **changes})[1]


def with_tensor(role: str, source: Graph, **changes: Any) -> Graph:
    tensors = tuple(replace(t, **changes) if t.name == role else t for t in source.tensors)
    return replace(source, tensors=tensors)


def with_options(source: Graph, **options: Any) -> Graph:
    return replace(source, nodes=(replace(source.nodes[0], options=options),))


def test_a_graph_becomes_the_fields_that_kernels_take() -> None:
    problem = ADAPTER.problem(graph())
    assert dict(problem.fields) == {
        "dtype": "FP16",
        "batch": 1,
        "num_query_heads": 4,
        "num_kv_heads": 2,
        "seqlen_q": 35,
        "seqlen_kv": 36,
        "head_size": 64,
        "causal": 1,
        "sliding_window": 0,
        "scale": 0.125,
    }
    visible = sum(36 - 35 + i + 1 for i in range(35))
    assert problem.flops == 4 * 4 * 64 * visible
    asked = ADAPTER.request(problem, "gfx950")
    assert asked == DenseAttentionRequest(
        arch="gfx950",
        dtype="fp16",
        num_query_heads=4,
        num_kv_heads=2,
        seqlen_q=35,
        seqlen_kv=36,
        head_size=64,
        causal=True,
    )
    assert REGISTRY.select(asked).candidate.name == "attention_dense_gfx950"


def test_a_causal_mask_that_hides_nothing_is_no_mask() -> None:
    decode = with_options(probe_graphs(METADATA | {"causal": 0})[0], causal_mask_bottom_right=True)
    one_query = replace(
        decode,
        tensors=tuple(
            replace(t, dims=(1, t.dims[1], 1, 64), strides=(t.dims[1] * 64, 64, t.dims[1] * 64, 1))
            if t.name in "qo"
            else t
            for t in decode.tensors
        ),
    )
    assert ADAPTER.problem(one_query).fields["causal"] == 0


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            with_options(graph(), causal_mask=True),
            "a causal mask with 35 queries and 36 keys that does not end at the last of both",
        ),
        (with_tensor("k", graph(), data_type="bfloat16"), "k is of type bfloat16, q of half; the kernels take one"),
        (with_tensor("q", graph(), data_type="float"), "q is of type float; the kernels take half and bfloat16"),
        (
            with_tensor("v", graph(), strides=(4608, 2304, 64, 1)),
            "v has strides [4608, 2304, 64, 1]; the kernels take batch, sequence, head, element without gaps: "
            "[4608, 64, 128, 1]",
        ),
        (
            with_tensor("v", graph(), dims=(1, 2, 32, 64), strides=(4096, 64, 128, 1)),
            "dims do not fit together: q [1, 4, 35, 64], k [1, 2, 36, 64], v [1, 2, 32, 64], o [1, 4, 35, 64]",
        ),
        (with_options(graph(), generate_stats=True), "generate_stats is True; the kernels do not have that"),
    ],
)
def test_what_no_kernel_computes_is_declined_with_its_reason(changed: Graph, reason: str) -> None:
    with pytest.raises(Declined) as declined:
        ADAPTER.problem(changed)
    assert str(declined.value) == reason


@pytest.mark.parametrize(("dtype", "spelled"), [("fp16", "FP16"), ("bf16", "BF16")])
@pytest.mark.parametrize("causal", [True, False])
def test_the_kernels_source_computes_attention(dtype: str, spelled: str, causal: bool) -> None:
    """By Triton's interpreter, against float64: torn blocks, several tiles, shared heads, queries that see no key."""
    asked = DenseAttentionRequest(
        arch="gfx950",
        dtype=dtype,
        num_query_heads=4,
        num_kv_heads=2,
        seqlen_q=1,
        seqlen_kv=1,
        head_size=64,
        causal=causal,
    )
    pinned = replace(asked, tuning_knobs=(("block_m", 32), ("block_n", 32)))
    spec = REGISTRY.select(pinned).spec
    source = build_attention_dense(spec, arch="gfx950")
    probes = []
    for posed in probe_graphs(METADATA | {"dtype": spelled, "causal": int(causal)}):
        problem = ADAPTER.problem(posed)
        fields = problem.fields
        grid = (-(-int(fields["seqlen_q"]) // 32), 4, int(fields["batch"]))
        probes.append(Probe("k", source, problem, grid, posed.name))
    assert len(probes) == 3
    assert [verdict.state for verdict in run_probes(ADAPTER, probes)] == ["passed"] * 3


def test_the_reference_gives_zeros_where_a_query_sees_no_key() -> None:
    late = probe_graphs(METADATA)[2]
    problem = ADAPTER.problem(late)
    assert int(problem.fields["seqlen_q"]) > int(problem.fields["seqlen_kv"])
    inputs = ADAPTER.inputs(problem, 3)
    output = ADAPTER.reference(problem, inputs)["o"]
    unseen = int(problem.fields["seqlen_q"]) - int(problem.fields["seqlen_kv"])
    assert np.all(output[:, :, :unseen] == 0)
    assert np.allclose(output[:, 0, unseen], inputs["v"][:, 0, 0], atol=1e-6)


def test_tiles_that_fit_a_problem_are_ranked_first() -> None:
    few, many = {"seqlen_q": 1, "seqlen_kv": 4096}, {"seqlen_q": 4096, "seqlen_kv": 4096}
    small, large = {"block_m": 128, "block_n": 64}, {"block_m": 256, "block_n": 64}
    assert ADAPTER.score(small, few) > ADAPTER.score(large, few)
    assert ADAPTER.score(large, many) > ADAPTER.score(small, many)
