"""Kernels are run by Triton's interpreter and judged: right ones pass, and every planted fault is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rdna_kernels import SMALL, probes_of, spec_of

from winnow.families.attention_rdna import ADAPTER
from winnow.families.attention_rdna.cells import Cell
from winnow.interpreter import Memory, interpreter, judge, run_probes
from winnow.interpreter.probe import launch_of

BIASED = spec_of(Cell(96, 16, "band", "fp32"), **SMALL)

FAULTS = {
    # What is wrong: the probe that finds it, the text of the kernel and what stands there instead.
    "dead columns of a bucket are read and stored": ("narrow", "(columns < width)", "(columns < 4 * width)"),
    "keys behind the end are loaded": (
        "late",
        "keys_left = seqlen_kv - start",
        "keys_left = seqlen_kv - start + BLOCK_N",
    ),
    "queries behind the end are stored": ("late", "queries_left = seqlen_q - first_query", "queries_left = BLOCK_M"),
    "the band is one key too narrow below": ("narrow", "queries + band_low\n", "queries + band_low + 1\n"),
    "the band is one key too wide above": (
        "narrow",
        "start + keys <= first_query + queries + band_high",
        "start + keys <= first_query + queries + band_high + 1",
    ),
    "tiles at the upper edge are not masked": (
        "narrow",
        "edge |= start + BLOCK_N - 1 > first_query + band_high",
        "edge |= start > first_query + band_high",
    ),
    "tiles at the lower edge are not masked": (
        "narrow",
        "edge |= start < first_query + BLOCK_M - 1 + band_low",
        "edge |= start + BLOCK_N < first_query + band_low",
    ),
    "a tile at the lower edge is not masked for its last query": (
        "window",
        "edge |= start < first_query + BLOCK_M - 1 + band_low",
        "edge |= start < first_query + BLOCK_M - 2 + band_low",
    ),
    "the first keys of the band are left out": (
        "narrow",
        "tl.maximum(0, first_query + band_low)",
        "tl.maximum(0, first_query + band_low + 1)",
    ),
    "the last key is left out of a band": ("shared", "tl.minimum(seqlen_kv, ", "tl.minimum(seqlen_kv - 1, "),
    "the first tile of keys is skipped": ("columns", "// BLOCK_N * BLOCK_N\n", "// BLOCK_N * BLOCK_N + BLOCK_N\n"),
    "the last keys are left out": ("narrow", "seqlen_q) + band_high)", "seqlen_q) + band_high - 1)"),
    "values come from the heads of the keys": ("columns", "v_packed, batch, v_head,", "v_packed, batch, k_head,"),
    "the bias is in another base than the scores": ("columns", "bias.to(tl.float32) * LOG2E", "bias.to(tl.float32)"),
    "the scale is left out": ("late", "scores *= scale * LOG2E", "scores *= LOG2E"),
    "a query without keys is not a number": (
        "late",
        'tl.where(highest_now == float("-inf"), 0.0, highest_now)',
        "highest_now",
    ),
    "sums do not fade with a new maximum": ("columns", "total * fading", "total"),
    "the head's second part is not added": ("narrow", "tl.dot(q_tail, k_tail, scores)\n", "scores\n"),
    "gaps between rows are taken for rows": (
        "narrow",
        "matrix + (rows * (row_stride // 8 * 8) + columns), mask=live, other=0.0",
        "matrix + (rows * (row_stride // 16 * 16) + columns), mask=live, other=0.0",
    ),
    "the stride of elements is ignored": ("columns", "columns * anew(column_stride, left)", "columns"),
    "keys come from another group's head": (
        "shared",
        "head // (num_query_heads // num_k_heads)",
        "head % num_k_heads",
    ),
    "values come from another group's head": (
        "shared",
        "head // (num_query_heads // num_v_heads)",
        "head % num_v_heads",
    ),
    "dead columns of the head's second part are stored": (
        "shared",
        "live_elements(queries, queries_left, q_tail_columns, head_size_v, EXACT)",
        "live_elements(queries, queries_left, q_tail_columns, head_size_v + 16, EXACT)",
    ),
    "heads start anywhere, and are read in vectors": ("shared", " & (head_stride % 8 == 0)", ""),
    "batches start anywhere, and are read in vectors": ("shared", " & (batch_stride % 8 == 0)", ""),
    "rows start anywhere, and are read in vectors": ("late", " & (row_stride % 8 == 0)", ""),
    "the stride of the bias's keys is ignored from tile to tile": (
        "shared",
        "bias_of + start * stride_mk.to(tl.int64)",
        "bias_of + start",
    ),
    "rows of the bias behind the end are read, and thrown away": (
        "narrow",
        "(queries < queries_left) & (keys < keys_left)",
        "(queries < BLOCK_M) & (keys < keys_left)",
    ),
    "the bias of the first batch is every batch's": ("columns", "batch * stride_mb + ", ""),
    "the bias of the first head is every head's": (
        "shared",
        "batch * stride_mb + head * stride_mh",
        "batch * stride_mb",
    ),
    "the head's second part does not fade": (
        "columns",
        "output_tail *= across(fading",
        "output_tail *= across(fading * 0 + 1",
    ),
}


def test_right_kernels_pass_and_every_planted_fault_is_found() -> None:
    """A check that passes a wrong kernel is worse than none: each fault must turn a probe red."""
    right = [
        BIASED,
        replace(BIASED, transposed=1),
        replace(BIASED, dtype="bf16", bias="same"),
        spec_of(Cell(64, 16, "band", "none"), "bf16", transposed=1, **SMALL),
    ]
    sound = [probe for spec in right for probe in probes_of(spec)]
    faulty = [
        next(probe for probe in probes_of(BIASED, [(old, new)]) if probe.graph == graph)
        for graph, old, new in FAULTS.values()
    ]
    verdicts = run_probes(ADAPTER, [*sound, *faulty])
    assert [(one.state, one.detail) for one in verdicts[: len(sound)]] == [("passed", "")] * len(sound)
    found = dict(zip(FAULTS, verdicts[len(sound) :], strict=True))
    assert [name for name, one in found.items() if one.state != "failed"] == []
    assert "beside its tensors" in found["queries behind the end are stored"].detail
    assert "is nan" in found["a query without keys is not a number"].detail


@pytest.mark.parametrize("lost", [1, 4])
def test_a_kernel_without_a_mask_that_leaves_the_last_keys_out_is_found(lost: int) -> None:
    plain = spec_of(Cell(64, 16, "none", "none"), "fp16", **SMALL)
    faulty = probes_of(plain, [("last_key = seqlen_kv\n", f"last_key = seqlen_kv - {lost}\n")])
    failed = [
        one.graph for one, verdict in zip(faulty, run_probes(ADAPTER, faulty), strict=True) if verdict.state == "failed"
    ]
    assert "shared" in failed


def test_memory_around_the_elements_of_tensors_is_nan() -> None:
    """Zeros there would hide a kernel that reads what it must not."""
    narrow = probes_of(BIASED)[0]
    launch = launch_of(narrow, ADAPTER.inputs(narrow.problem, 0))
    for operand in narrow.problem.operands:
        memory = launch.arguments[operand.role]
        assert isinstance(memory, Memory)
        numbers = np.count_nonzero(~np.isnan(memory.elements))
        assert numbers == (0 if operand.output else np.prod(operand.dims))


def test_a_bias_of_minus_infinity_hides_keys() -> None:
    """Masks are often given so; a row of nothing else must be zeros, not NaN."""
    probe = next(probe for probe in probes_of(BIASED) if probe.graph == "columns")
    inputs = ADAPTER.inputs(probe.problem, 0)
    inputs["attn_mask"][0] = -np.inf
    inputs["attn_mask"][1, ..., ::2] = -np.inf
    launch = launch_of(probe, inputs)
    with interpreter() as interpret:
        answer = interpret(launch)
    verdict = judge(ADAPTER, probe.problem, inputs, launch, answer)
    assert (verdict.state, verdict.detail) == ("passed", "")
    assert not ADAPTER.reference(probe.problem, inputs)["o"][0].any()
