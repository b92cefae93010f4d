"""A kernel that does wrong must be found out whatever it does, and must not spoil the problem for the next one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.devices.device import DeviceFault
from winnow.families.adapter import Operand, Problem
from winnow.runtime.correctness import judge
from winnow.runtime.execution import Execution

GUARD = 8


class HostBuffer:
    """Memory between guards, in this process."""

    def __init__(self, nbytes: int) -> None:
        self.whole = np.full(nbytes + 2 * GUARD, 7, np.uint8)
        self.bytes_ = self.whole[GUARD : GUARD + nbytes]

    def guards_intact(self) -> bool:
        return bool((self.whole[:GUARD] == 7).all() and (self.whole[len(self.whole) - GUARD :] == 7).all())

    def free(self) -> None:
        self.bytes_ = np.empty(0, np.uint8)


class HostDevice:
    """Runs kernels that are Python functions."""

    arch = "host"

    def allocate(self, nbytes: int) -> HostBuffer:
        return HostBuffer(nbytes)

    def launch(self, module: Any, arguments: dict[str, Any], grid: Any) -> None:
        module.run(arguments)

    def time(self, module: Any, arguments: dict[str, Any], grid: Any, **_: Any) -> tuple[int, ...]:
        module.run(arguments)
        return (1,)


class Doubling:
    """y = 2 x, with y strided."""

    def problem(self) -> Problem:
        x = Operand("x", 1, (3, 4), (4, 1), "float", output=False)
        y = Operand("y", 2, (3, 4), (6, 1), "float", output=True)
        return Problem({"n": 12, "kind": "FLOAT"}, (x, y), 12)

    def inputs(self, problem: Problem, seed: int) -> dict[str, np.ndarray]:
        return {"x": np.random.default_rng(seed).normal(size=(3, 4)).astype(np.float32)}

    def reference(self, problem: Problem, inputs: Any) -> dict[str, np.ndarray]:
        return {"y": inputs["x"].astype(np.float64) * 2}

    def tolerance(self, problem: Problem) -> tuple[float, float]:
        return 1e-6, 1e-6


def kernel(run: Callable[[dict[str, Any]], None]) -> Any:
    names = ("x", "y", "n")
    return SimpleNamespace(run=run, signature=tuple(SimpleNamespace(name=name) for name in names))


def views(arguments: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    x = arguments["x"].bytes_.view(np.float32).reshape(3, 4)
    whole = arguments["y"].bytes_.view(np.float32)
    return x, np.lib.stride_tricks.as_strided(whole, (3, 4), (24, 4))


def good(arguments: dict[str, Any]) -> None:
    x, y = views(arguments)
    y[...] = 2 * x


def off_by_one(arguments: dict[str, Any]) -> None:
    good(arguments)
    views(arguments)[1][2, 1] += 1


def lazy(arguments: dict[str, Any]) -> None:
    good(arguments)
    views(arguments)[1][1, 2] = np.nan


def in_the_gap(arguments: dict[str, Any]) -> None:
    good(arguments)
    arguments["y"].bytes_.view(np.float32)[4] = 0


def over_the_end(arguments: dict[str, Any]) -> None:
    good(arguments)
    arguments["y"].whole[-1] = 0


def in_its_input(arguments: dict[str, Any]) -> None:
    good(arguments)
    views(arguments)[0][0, 0] = 5


def crash(arguments: dict[str, Any]) -> None:
    views(arguments)[0][0, 0] = 5
    raise DeviceFault("crash", "planted")


@pytest.fixture
def execution():
    adapter = Doubling()
    with Execution(HostDevice(), adapter, adapter.problem(), seed=3) as made:
        yield made


@pytest.mark.parametrize(
    ("faulty", "said"),
    [
        (off_by_one, "1 of 12 elements beyond rtol 1e-06, atol 1e-06"),
        (lazy, "y[1, 2] is nan, expected"),
        (in_the_gap, "wrote between the rows of y"),
        (over_the_end, "wrote outside y"),
        (in_its_input, "changed its input x"),
        (lambda arguments: None, "y[0, 0] is nan, expected"),
    ],
)
def test_each_fault_is_found_and_the_next_kernel_meets_the_same_problem(execution: Execution, faulty, said):
    found = execution.verify(kernel(faulty), (1, 1, 1))
    assert found.state == "failed"
    assert said in found.detail
    after = execution.verify(kernel(good), (1, 1, 1))
    assert after.state == "passed", after.detail
    assert after.max_abs == 0


@pytest.mark.parametrize("launch", ["verify", "time"])
def test_a_crash_passes_through_and_spoils_nothing(execution: Execution, launch):
    options = {} if launch == "verify" else {"min_seconds": 0.0, "max_launches": 1}
    with pytest.raises(DeviceFault, match="planted"):
        getattr(execution, launch)(kernel(crash), (1, 1, 1), **options)
    assert execution.verify(kernel(good), (1, 1, 1)).state == "passed"


def test_a_right_result_of_another_kernel_does_not_help_a_lazy_one(execution: Execution):
    assert execution.verify(kernel(good), (1, 1, 1)).state == "passed"
    assert execution.verify(kernel(lambda arguments: None), (1, 1, 1)).state == "failed"


def test_arguments_are_the_buffers_and_the_numbers(execution: Execution):
    assert set(execution.arguments) == {"x", "y", "n"}


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6), st.floats(0, 0.1), st.floats(0, 0.1), st.data())
def test_judgement_is_the_definition(values, rtol, atol, data):
    true = np.array(values)
    got = true + np.array(data.draw(st.lists(st.floats(-1, 1), min_size=len(values), max_size=len(values))))
    expected = bool((np.abs(got - true) <= atol + rtol * np.abs(true)).all())
    assert (judge("o", got, true, rtol, atol).state == "passed") == expected
