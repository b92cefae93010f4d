"""One problem on a device: its tensors in device memory, its true result, and every kernel judged against it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from winnow.devices.device import Buffer, Device, DeviceFault, Grid, Module
from winnow.dtypes import FORMATS
from winnow.families.adapter import FamilyAdapter, Operand, Problem
from winnow.families.halves import held, numbers
from winnow.runtime.correctness import Correctness, failed, judge

T = TypeVar("T")

_POISON = 0xFF
"""Byte whose repetition is a NaN in every floating type."""


class Execution:
    """Owns the buffers of one problem on one device. Use it as a context manager.

    A kernel that damages what it may not touch, or takes the worker down, is followed by fresh buffers, so that the
    next kernel meets the same problem.
    """

    def __init__(self, device: Device, adapter: FamilyAdapter, problem: Problem, seed: int) -> None:
        self.device = device
        self.adapter = adapter
        self.problem = problem
        self.inputs: dict[str, NDArray[Any]] = {}
        self.buffers: dict[str, Buffer] = {}
        self._written: dict[str, NDArray[np.uint8]] = {}
        self._owned = ExitStack()
        made = adapter.inputs(problem, seed)
        for operand in problem.operands:
            if not operand.output:
                # One copy, laid out as the device has it, so that looking for changes reads memory in order.
                raw = np.zeros(operand.elements * _itemsize(operand), np.uint8)
                self._written[operand.role] = raw
                laid_out, values = _view(raw, operand), made.pop(operand.role)
                laid_out[...] = held(values, operand.data_type)
                self.inputs[operand.role] = _numbers(laid_out, operand)
        self._allocate()

    def __enter__(self) -> Execution:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._owned.close()

    @cached_property
    def reference(self) -> dict[str, NDArray[np.float64]]:
        """The true outputs by role, in float64."""
        return self.adapter.reference(self.problem, self.inputs)

    @property
    def arguments(self) -> dict[str, Any]:
        """Everything that a kernel may take by name: buffers by role, and the problem's numbers."""
        plain = {name: value for name, value in self.problem.fields.items() if not isinstance(value, str)}
        return {**plain, **self.buffers}

    def verify(self, module: Module, grid: Grid) -> Correctness:
        """Launch once on poisoned outputs and judge what is there afterwards. DeviceFault passes through."""
        for operand in self._outputs():
            self.buffers[operand.role].bytes_.fill(_POISON)
        self._launching(lambda: self.device.launch(module, self._arguments_of(module), grid))
        damage = self._damage()
        if damage is not None:
            self._allocate()
            return failed(damage)
        return self._judge()

    def time(self, module: Module, grid: Grid, *, min_seconds: float, max_launches: int) -> tuple[int, ...]:
        """Nanoseconds of single launches, in order. DeviceFault passes through."""
        arguments = self._arguments_of(module)
        return self._launching(
            lambda: self.device.time(module, arguments, grid, min_seconds=min_seconds, max_launches=max_launches)
        )

    def _launching(self, launch: Callable[[], T]) -> T:
        try:
            return launch()
        except DeviceFault:
            self._allocate()
            raise

    def _allocate(self) -> None:
        """Fresh buffers with the inputs in them; those that there were are given back."""
        self._owned.close()
        with ExitStack() as undo:
            for operand in self.problem.operands:
                buffer = self.device.allocate(operand.elements * _itemsize(operand))
                undo.callback(buffer.free)
                self.buffers[operand.role] = buffer
                if not operand.output:
                    buffer.bytes_[...] = self._written[operand.role]
            self._owned = undo.pop_all()

    def _arguments_of(self, module: Module) -> dict[str, Any]:
        everything = self.arguments
        return {
            argument.name: everything[argument.name] for argument in module.signature if argument.name in everything
        }

    def _outputs(self) -> list[Operand]:
        return [operand for operand in self.problem.operands if operand.output]

    def _damage(self) -> str | None:
        """What a kernel may not touch and did: memory beside a buffer, an input, the gaps of a strided output."""
        for operand in self.problem.operands:
            buffer = self.buffers[operand.role]
            if not buffer.guards_intact():
                return f"wrote outside {operand.role}"
            if operand.output:
                if not self._gaps_poisoned(operand):
                    return f"wrote between the rows of {operand.role}"
            elif not self._untouched(operand):
                return f"changed its input {operand.role}"
        return None

    def _untouched(self, operand: Operand) -> bool:
        """Whether an input is as it was written, compared word by word."""
        word = f"u{_itemsize(operand)}"
        now, then = self.buffers[operand.role].bytes_, self._written[operand.role]
        return bool(np.array_equal(now.view(word), then.view(word)))

    def _gaps_poisoned(self, operand: Operand) -> bool:
        """Whether memory between the elements of a strided output is as it was."""
        if operand.elements == int(np.prod(operand.dims)):
            return True
        gaps = np.ones(operand.elements, dtype=bool)
        as_strided(gaps, shape=operand.dims, strides=operand.strides)[...] = False
        raw = self.buffers[operand.role].bytes_.reshape(operand.elements, _itemsize(operand))
        return bool((raw[gaps] == _POISON).all())

    def _judge(self) -> Correctness:
        rtol, atol = self.adapter.tolerance(self.problem)
        judged = [
            judge(
                operand.role,
                _numbers(_view(self.buffers[operand.role].bytes_, operand), operand),
                self.reference[operand.role],
                rtol,
                atol,
            )
            for operand in self._outputs()
        ]
        wrong = [one for one in judged if one.state != "passed"]
        if wrong:
            return wrong[0]
        return Correctness("passed", "", max(one.max_abs for one in judged), max(one.max_rel for one in judged))


def _itemsize(operand: Operand) -> int:
    return FORMATS[operand.data_type].bytes


def _numbers(elements: NDArray[Any], operand: Operand) -> NDArray[Any]:
    """What elements in memory stand for."""
    return numbers(elements, operand.data_type)


def _view(raw: NDArray[np.uint8], operand: Operand) -> NDArray[Any]:
    dtype = np.dtype(FORMATS[operand.data_type].numpy)
    strides = tuple(stride * dtype.itemsize for stride in operand.strides)
    return as_strided(raw.view(dtype), shape=operand.dims, strides=strides)
