"""Kernels are run by Triton's interpreter and judged: right ones pass, and every planted fault is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rdna_kernels import SMALL, changed, probes_of, spec_of

from winnow.compilers.source import TritonSource
from winnow.errors import Incomplete, InputError
from winnow.families.attention_rdna import ADAPTER
from winnow.families.attention_rdna.cells import Cell
from winnow.families.halves import bfloat16_bits
from winnow.interpreter import Launch, Memory, interpret, judge, run_probes
from winnow.interpreter.probe import launch_of
from winnow.interpreter.sample import covering

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
    assert found["queries behind the end are stored"].detail == "wrote outside o"
    assert "is nan" in found["a query without keys is not a number"].detail


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
    (answer,) = interpret([launch])
    verdict = judge(ADAPTER, probe.problem, inputs, launch, answer)
    assert (verdict.state, verdict.detail) == ("passed", "")
    assert not ADAPTER.reference(probe.problem, inputs)["o"][0].any()


DOT = """
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, SIZE: tl.constexpr):
    index = tl.arange(0, SIZE)
    at = index[:, None] * SIZE + index[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))
"""
PRODUCT = TritonSource("product", DOT, "product", (("a", "*bf16"), ("b", "*bf16"), ("c", "*fp32")), (("SIZE", 16),))


def product_of(source: TritonSource = PRODUCT) -> Launch:
    a, b = (np.arange(256, dtype=np.float32).reshape(16, 16) % n - 3 for n in (7, 5))
    memory = {
        "a": Memory("bf16", bfloat16_bits(a).reshape(-1)),
        "b": Memory("bf16", bfloat16_bits(b).reshape(-1)),
        "c": Memory("fp32", np.zeros(256, np.float32)),
    }
    return Launch(source, (1, 1, 1), memory)


def test_products_of_bf16_are_products_of_numbers() -> None:
    """Triton 3.9.0's interpreter multiplies the bit patterns."""
    (answer,) = interpret([product_of()])
    a, b = (np.arange(256, dtype=np.float64).reshape(16, 16) % n - 3 for n in (7, 5))
    assert answer.error == ""
    assert answer.memory["c"].reshape(16, 16).tolist() == (a @ b).tolist()


def test_a_kernel_that_raises_costs_its_own_launch() -> None:
    broken = changed(PRODUCT, [("index[:, None] * SIZE", "nothing * SIZE")])
    answers = interpret([product_of(broken), product_of()])
    assert "nothing" in answers[0].error
    assert answers[1].error == ""


def test_without_triton_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winnow.interpreter.process.importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError) as error:
        interpret([product_of()])
    assert str(error.value) == (
        "Triton is not installed, so its interpreter cannot run\n  cure: pip install 'winnow-kernels[gpu]'"
    )


def test_a_kernel_that_ends_its_process_costs_its_own_launch() -> None:
    """A wild write must not take the verdicts of other kernels with it."""
    begin = "    index = tl.arange(0, SIZE)\n"
    killed = changed(PRODUCT, [(begin, f"    __import__('os').abort()\n{begin}")])
    left = changed(PRODUCT, [(begin, f"    __import__('os')._exit(7)\n{begin}")])
    answers = interpret([product_of(killed), product_of(left), product_of()])
    assert [answer.error for answer in answers] == [
        "the kernel ended its process by SIGABRT",
        "the kernel ended its process with 7",
        "",
    ]


def test_an_interpreter_that_dies_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winnow.interpreter.process.sys.executable", "/bin/false")
    with pytest.raises(Incomplete) as error:
        interpret([product_of()])
    assert str(error.value) == "the interpreter's process ended with 1"


def test_a_process_that_does_not_answer_is_no_pass() -> None:
    with pytest.raises(Incomplete) as error:
        interpret([product_of()], timeout_s=0.01)
    assert str(error.value) == "the interpreter gave no answer for 1 launches in 0.01 s"


def test_a_sample_holds_every_value_of_every_field() -> None:
    records = [{"a": a, "b": b, "c": 0} for a in (1, 2, 3) for b in (1, 2)]
    chosen = covering(records)
    assert chosen == (0, 3, 4)
    assert {("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2)} <= {item for i in chosen for item in records[i].items()}
