"""Serving a graph: the kernel that an engine chooses, whether it is right, how long it takes, and the runner-up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median_high

from winnow.devices.device import Device, DeviceFault
from winnow.errors import Refused
from winnow.families.adapter import Declined, Problem
from winnow.graphs.model import Graph
from winnow.runtime.correctness import Correctness, failed
from winnow.runtime.execution import Execution
from winnow.runtime.load import Engine, PackedKernel
from winnow.wording import amount


@dataclass(frozen=True)
class Served:
    """One kernel's run of one graph. `median_ns` is None when it was not right, for then its time means nothing."""

    kernel: PackedKernel
    correctness: Correctness
    median_ns: int | None


def applicable(engine: Engine, graph: Graph) -> tuple[Problem, tuple[PackedKernel, ...]]:
    """The problem that a graph poses and the kernels that serve it, best guess first.

    Raises:
        Refused: the family declines the graph, or no kernel serves it; the reasons are named.
    """
    try:
        problem = engine.problem(graph)
    except Declined as reason:
        raise Refused(f"{graph.name}: {engine.name} declines this graph: {reason}") from None
    ranked = engine.ranked(problem)
    if not ranked:
        reasons = Counter(str(engine.refusal(kernel, problem)) for kernel in engine.kernels)
        shown = "; ".join(f"{amount(count, 'kernels')}: {reason}" for reason, count in reasons.most_common(5))
        raise Refused(
            f"{graph.name}: none of {len(engine.kernels)} kernels of {engine.name} on {engine.arch} serves it: {shown}",
            cure="add a kernel for it to the selection, or take the graph out of the corpus",
        )
    return problem, ranked


def run_kernel(
    engine: Engine,
    device: Device,
    execution: Execution,
    kernel: PackedKernel,
    *,
    min_seconds: float,
    max_launches: int,
) -> Served:
    """Verify one kernel on one problem and, if it is right, time it (0 launches: verify only)."""
    grid = engine.grid(kernel, execution.problem)
    try:
        module = device.load(kernel.payload, kernel.symbol, kernel.signature)
        correctness = execution.verify(module, grid)
        if correctness.state != "passed" or max_launches == 0:
            return Served(kernel, correctness, None)
        samples = execution.time(module, grid, min_seconds=min_seconds, max_launches=max_launches)
    except DeviceFault as fault:
        return Served(kernel, failed(str(fault)), None)
    return Served(kernel, correctness, median_high(samples))
