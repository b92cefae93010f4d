"""What an interpreted kernel left in memory: its result against the truth, and everything that it may not touch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from winnow.families.adapter import FamilyAdapter, Operand, Problem
from winnow.families.halves import numbers
from winnow.interpreter.launch import Interpreted, Launch, Memory, laid_out
from winnow.runtime.correctness import Correctness, failed
from winnow.runtime.correctness import judge as judge_output


def judge(
    adapter: FamilyAdapter, problem: Problem, inputs: Mapping[str, NDArray[Any]], launch: Launch, answer: Interpreted
) -> Correctness:
    """Passed where every output is right and all other memory is as it was, bit for bit."""
    if answer.error:
        return failed(answer.error)
    truth = adapter.reference(problem, inputs)
    rtol, atol = adapter.tolerance(problem)
    worst = Correctness("passed", "", 0.0, 0.0)
    for operand in problem.operands:
        before, after = launch.arguments[operand.role], answer.memory[operand.role]
        if not isinstance(before, Memory):
            raise TypeError(f"the argument {operand.role} is not memory")
        if not _untouched(operand, before, after):
            return failed(
                f"changed its input {operand.role}" if not operand.output else f"wrote outside {operand.role}"
            )
        if operand.output:
            lying = laid_out(after, before.fence, operand)
            got = numbers(lying, operand.data_type)
            verdict = judge_output(operand.role, got, truth[operand.role], rtol, atol)
            if verdict.state != "passed":
                return verdict
            worst = max(worst, verdict, key=lambda one: one.max_abs)
    return worst


def _untouched(operand: Operand, before: Memory, after: NDArray[Any]) -> bool:
    """Whether all memory, but for the elements of an output, holds the bits that it held."""
    same = before.elements.view(f"u{after.itemsize}") == after.view(f"u{after.itemsize}")
    if operand.output:
        laid_out(same, before.fence, operand)[...] = True
    return bool(same.all())
