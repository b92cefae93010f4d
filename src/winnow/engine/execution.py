"""One problem on a device: its tensors in device memory, its true result, and every kernel judged against it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from winnow.devices.device import Buffer, Device, Grid, Module
from winnow.families.adapter import FamilyAdapter, Operand, Problem

_DTYPES: Mapping[str, Any] = {"float": np.float32, "double": np.float64, "half": np.float16, "int32": np.int32}
_POISON = 0xFF
"""Byte whose repetition is a NaN in every floating type."""


@dataclass(frozen=True)
class Correctness:
    """Three-valued: only `passed` may be ranked, shipped or counted."""

    state: Literal["passed", "failed", "unchecked"]
    detail: str
    max_abs: float
    max_rel: float


class Execution:
    """Owns the buffers of one problem on one device. Use it as a context manager."""

    def __init__(self, device: Device, adapter: FamilyAdapter, problem: Problem, seed: int) -> None:
        self.device = device
        self.adapter = adapter
        self.problem = problem
        self.inputs: dict[str, NDArray[Any]] = {}
        self.buffers: dict[str, Buffer] = {}
        self._written: dict[str, NDArray[np.uint8]] = {}
        made = adapter.inputs(problem, seed)
        with ExitStack() as undo:
            for operand in problem.operands:
                buffer = device.allocate(operand.elements * _itemsize(operand))
                undo.callback(buffer.free)
                self.buffers[operand.role] = buffer
                if not operand.output:
                    buffer.bytes_.fill(0)
                    _view(buffer.bytes_, operand)[...] = made.pop(operand.role)
                    # One copy, laid out as the device has it, so that looking for changes reads memory in order.
                    self._written[operand.role] = buffer.bytes_.copy()
                    self.inputs[operand.role] = _view(self._written[operand.role], operand)
            self._buffers_owned = undo.pop_all()

    def __enter__(self) -> Execution:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._buffers_owned.close()

    @cached_property
    def reference(self) -> dict[str, NDArray[np.float64]]:
        """The true outputs by role, in float64."""
        return self.adapter.reference(self.problem, self.inputs)

    @property
    def arguments(self) -> dict[str, Any]:
        """Everything that a kernel may take by name: buffers by role, and the problem's numbers."""
        numbers = {name: value for name, value in self.problem.fields.items() if not isinstance(value, str)}
        return {**numbers, **self.buffers}

    def verify(self, module: Module, grid: Grid) -> Correctness:
        """Launch once on poisoned outputs and judge what is there afterwards. DeviceFault passes through."""
        for operand in self._outputs():
            self.buffers[operand.role].bytes_.fill(_POISON)
        self.device.launch(module, self._arguments_of(module), grid)
        broken = self._damage()
        if broken is not None:
            return Correctness("failed", broken, float("inf"), float("inf"))
        return self._judge()

    def time(self, module: Module, grid: Grid, *, min_seconds: float, max_launches: int) -> tuple[int, ...]:
        """Nanoseconds of single launches, in order."""
        return self.device.time(
            module, self._arguments_of(module), grid, min_seconds=min_seconds, max_launches=max_launches
        )

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
            if not self.buffers[operand.role].guards_intact():
                return f"wrote outside {operand.role}"
            if not operand.output and not self._untouched(operand):
                return f"changed its input {operand.role}"
            if operand.output and operand.elements != int(np.prod(operand.dims)):
                gaps = np.ones(operand.elements, dtype=bool)
                strides = tuple(operand.strides)
                as_strided(gaps, shape=operand.dims, strides=strides)[...] = False
                size = _itemsize(operand)
                raw = self.buffers[operand.role].bytes_.reshape(operand.elements, size)
                if not (raw[gaps] == _POISON).all():
                    return f"wrote between the rows of {operand.role}"
        return None

    def _untouched(self, operand: Operand) -> bool:
        word = f"u{_itemsize(operand)}"
        now, then = self.buffers[operand.role].bytes_, self._written[operand.role]
        return np.array_equal(now.view(word), then.view(word))

    def _judge(self) -> Correctness:
        rtol, atol = self.adapter.tolerance(self.problem)
        max_abs = max_rel = 0.0
        for operand in self._outputs():
            got = _view(self.buffers[operand.role].bytes_, operand).astype(np.float64)
            true = self.reference[operand.role]
            if not np.isfinite(got).all():
                at = tuple(int(i) for i in np.argwhere(~np.isfinite(got))[0])
                detail = f"{operand.role}{list(at)} is {got[at]}, expected {true[at]:.6g}"
                return Correctness("failed", detail, float("inf"), float("inf"))
            error = np.abs(got - true)
            max_abs = max(max_abs, float(error.max(initial=0.0)))
            max_rel = max(
                max_rel, float((error / np.maximum(np.abs(true), np.finfo(np.float32).tiny)).max(initial=0.0))
            )
            excess = error - (atol + rtol * np.abs(true))
            if (excess > 0).any():
                at = tuple(int(i) for i in np.unravel_index(int(excess.argmax()), excess.shape))
                wrong = int((excess > 0).sum())
                detail = (
                    f"{operand.role}{list(at)} is {got[at]:.6g}, expected {true[at]:.6g} "
                    f"({wrong} of {error.size} elements beyond rtol {rtol:g}, atol {atol:g})"
                )
                return Correctness("failed", detail, max_abs, max_rel)
        return Correctness("passed", "", max_abs, max_rel)


def _itemsize(operand: Operand) -> int:
    return int(np.dtype(_DTYPES[operand.data_type]).itemsize)


def _view(raw: NDArray[np.uint8], operand: Operand) -> NDArray[Any]:
    dtype = np.dtype(_DTYPES[operand.data_type])
    strides = tuple(stride * dtype.itemsize for stride in operand.strides)
    return as_strided(raw.view(dtype), shape=operand.dims, strides=strides)
