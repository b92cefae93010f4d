"""Every fault planted in the dense attention kernel is found by the probe that is meant for it."""

from __future__ import annotations

from collections.abc import Sequence

from rdna_kernels import changed

from winnow.families.attention_dense import ADAPTER, REGISTRY, DenseAttentionRequest
from winnow.families.attention_dense.forward import build_attention_dense
from winnow.interpreter import Probe, run_probes

FAULTS = {
    # What is wrong: the probe that finds it, the text of the kernel and what stands there instead.
    "a query does not see its last key": ("tiles", "keys[None, :] <= last_seen", "keys[None, :] < last_seen"),
    "the diagonal ends at the first key": ("torn", "diagonal = seqlen_kv - seqlen_q", "diagonal = 0"),
    "the last tile that a query sees is left out": (
        "tiles",
        "seen_by_any = tl.minimum(start + diagonal + BLOCK_M, seqlen_kv)",
        "seen_by_any = tl.minimum(start + diagonal + BLOCK_M - 1, seqlen_kv)",
    ),
    "a tile that the first query sees but for one key is not masked": (
        "torn",
        "seen_by_all = tl.minimum(start + diagonal + 1, seqlen_kv)",
        "seen_by_all = tl.minimum(start + diagonal + 2, seqlen_kv)",
    ),
    "keys behind the end are loaded": ("torn", "there = tl.minimum(keys, last_key)", "there = keys"),
    "one query behind the end is read, and thrown away": (
        "torn",
        "tl.load(q_head + at, mask=rows[:, None] < seqlen_q,",
        "tl.load(q_head + at, mask=rows[:, None] < seqlen_q + 1,",
    ),
    "queries behind the end are stored": (
        "torn",
        "result.to(o.dtype.element_ty), mask=rows[:, None] < seqlen_q)",
        "result.to(o.dtype.element_ty))",
    ),
    "keys of a batch start where its queries do": (
        "late",
        "k_head = k + sequence * seqlen_kv",
        "k_head = k + sequence * seqlen_q",
    ),
    "values of a batch start where its queries do": (
        "late",
        "v_head = v + sequence * seqlen_kv",
        "v_head = v + sequence * seqlen_q",
    ),
    "keys and values come from another group's head": (
        "torn",
        "kv_head = head // (QUERY_HEADS // KV_HEADS)",
        "kv_head = head % KV_HEADS",
    ),
    "a query without keys is not a number": ("late", 'tl.where(raised == float("-inf"), 0.0, raised)', "raised"),
    "a query without keys is divided by zero": ("late", "tl.where(weights > 0, weights, 1.0)", "weights"),
    "sums do not fade with a new maximum": ("torn", "weights * faded", "weights"),
    "outputs do not fade with a new maximum": ("torn", "total * faded[:, None]", "total"),
    "the scale is left out": ("torn", "log2_scale = scale * 1.44", "log2_scale = 1.44"),
}
TORN = ("first + BLOCK_N > seen_by_all", "CAUSAL and first + BLOCK_N > seen_by_all")


def probes_of(causal: bool, changes: Sequence[tuple[str, str]] = ()) -> list[Probe]:
    """The probes of a small kernel whose text is changed."""
    asked = DenseAttentionRequest(
        arch="gfx950",
        dtype="fp16",
        num_query_heads=4,
        num_kv_heads=2,
        seqlen_q=1,
        seqlen_kv=1,
        head_size=64,
        causal=causal,
        tuning_knobs=(("block_m", 64), ("block_n", 32)),
    )
    selected = REGISTRY.select(asked)
    source = changed(build_attention_dense(selected.spec, arch="gfx950"), changes)
    metadata = {**dict(selected.spec.items()), "dtype": "FP16", "causal": int(causal)}
    found = []
    for graph in ADAPTER.probes(metadata):
        problem = ADAPTER.problem(graph)
        grid = (-(-int(problem.fields["seqlen_q"]) // 64), 4, int(problem.fields["batch"]))
        found.append(Probe(graph.name, source, problem, grid, graph.name))
    return found


def test_every_fault_planted_in_the_dense_kernel_is_found() -> None:
    sound = [*probes_of(causal=False), *probes_of(causal=True)]
    faulty = [
        next(probe for probe in probes_of(True, [(old, new)]) if probe.graph == graph)
        for graph, old, new in FAULTS.values()
    ]
    verdicts = run_probes(ADAPTER, [*sound, *faulty, probes_of(False, [TORN])[0]])
    assert [(one.state, one.detail) for one in verdicts[: len(sound)]] == [("passed", "")] * len(sound)
    found = dict(zip((*FAULTS, "torn tiles are not masked"), verdicts[len(sound) :], strict=True))
    assert [name for name, one in found.items() if one.state != "failed"] == []
