"""What a sweep holds on the device: each kernel loaded once, and the problems of as many graphs as fit in memory."""

from __future__ import annotations

from types import TracebackType

from winnow.devices.device import Device, DeviceFault, Module
from winnow.runtime.execution import Execution
from winnow.runtime.load import Engine, PackedKernel
from winnow.sweep.plan import GraphPlan

RESIDENT_ELEMENTS = 160_000_000
"""Tensor elements that stay on the device between rounds, because making a graph's inputs costs more than a round of
its kernels. Beyond the limit one graph at a time is there, and made anew in each round."""


class Workbench:
    """A device with an engine's kernels and problems. Use it as a context manager."""

    def __init__(self, engine: Engine, device: Device, seed: int) -> None:
        self.engine = engine
        self.device = device
        self.seed = seed
        self._modules: dict[tuple[str, str], Module | DeviceFault] = {}
        self._resident: dict[str, Execution] = {}
        self._passing: dict[str, Execution] = {}
        self._elements = 0

    def __enter__(self) -> Workbench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for execution in (*self._resident.values(), *self._passing.values()):
            self._close(execution)
        self._resident.clear()
        self._passing.clear()

    def module(self, kernel: PackedKernel) -> Module:
        """The kernel's loaded object. Raises DeviceFault, the same each time, if it cannot be loaded."""
        key = (kernel.sha256, kernel.symbol)
        if key not in self._modules:
            try:
                self._modules[key] = self.device.load(kernel.payload, kernel.symbol, kernel.signature)
            except DeviceFault as fault:
                self._modules[key] = fault
        found = self._modules[key]
        if isinstance(found, DeviceFault):
            raise DeviceFault(found.kind, found.detail)
        return found

    def execution(self, plan: GraphPlan) -> Execution:
        """The graph's problem on the device, until another graph's is asked for."""
        if plan.problem is None:
            raise ValueError(f"{plan.graph.name} is not a graph of this family")
        for held in (self._resident, self._passing):
            if plan.id in held:
                return held[plan.id]
        for other in list(self._passing):
            self._close(self._passing.pop(other))
        execution = Execution(self.device, self.engine.adapter, plan.problem, self.seed)
        elements = _elements(plan)
        if self._elements + elements <= RESIDENT_ELEMENTS:
            self._elements += elements
            self._resident[plan.id] = execution
        else:
            self._passing[plan.id] = execution
        return execution

    def renew(self, plan: GraphPlan) -> None:
        """Let go of a problem that a failing kernel may have damaged; the next use makes it anew."""
        if plan.id in self._passing:
            self._close(self._passing.pop(plan.id))
        if plan.id in self._resident:
            self._elements -= _elements(plan)
            self._close(self._resident.pop(plan.id))

    @staticmethod
    def _close(execution: Execution) -> None:
        with execution:
            pass


def _elements(plan: GraphPlan) -> int:
    return 0 if plan.problem is None else sum(operand.elements for operand in plan.problem.operands)
