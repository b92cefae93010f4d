"""A kernel on one problem: its tensors in NaN-filled memory, its launch, and the verdict on what it left there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from winnow.compilers.source import TritonSource
from winnow.dtypes import FORMATS
from winnow.families.adapter import FamilyAdapter, Field, Operand, Problem
from winnow.families.halves import held
from winnow.graphs.model import Graph
from winnow.interpreter.judge import judge
from winnow.interpreter.launch import Launch, Memory, laid_out
from winnow.interpreter.process import interpreter
from winnow.runtime.correctness import Correctness
from winnow.workers.pool import default_jobs

_FENCE = 4096
"""Elements before and behind every tensor that no kernel may read or write."""
_POISON = 0xFF
"""Byte whose repetition is a NaN in every floating type."""


@runtime_checkable
class Probed(Protocol):
    """A family that says on which graphs its kernels are checked."""

    def probes(self, metadata: Mapping[str, Field]) -> tuple[Graph, ...]:
        """Small graphs that a kernel with this metadata serves and that meet all that it does."""
        ...


@dataclass(frozen=True)
class Probe:
    """A kernel, and a problem that it serves."""

    kernel: str
    source: TritonSource
    problem: Problem
    grid: tuple[int, int, int]
    graph: str


def _silent(done: int, total: int) -> None:
    """Progress that nobody watches."""


def run_probes(
    adapter: FamilyAdapter, probes: Sequence[Probe], seed: int = 0, *, progress: Callable[[int, int], None] = _silent
) -> tuple[Correctness, ...]:
    """The verdict on each probe, in their order, from as many processes as `winnow pack` has workers.

    `progress` is told how many of how many there are, as they come.

    Raises what `interpreter` and its function raise.
    """
    workers = max(1, min(default_jobs(), len(probes)))

    def verdict(probe: Probe) -> Correctness:
        inputs = adapter.inputs(probe.problem, seed)
        launch = launch_of(probe, inputs)
        return judge(adapter, probe.problem, inputs, launch, interpret(launch))

    # Processes end before threads do, so that no thread waits for an answer that nobody wants.
    with ThreadPoolExecutor(workers) as threads, interpreter(workers) as interpret:
        verdicts = []
        for found in threads.map(verdict, probes):
            verdicts.append(found)
            progress(len(verdicts), len(probes))
        return tuple(verdicts)


def launch_of(probe: Probe, inputs: Mapping[str, NDArray[Any]]) -> Launch:
    """The launch of a probe: everything in memory that is not an input's element is NaN."""
    memory = {
        operand.role: _memory(operand, None if operand.output else inputs[operand.role])
        for operand in probe.problem.operands
    }
    known: dict[str, Any] = {**probe.problem.fields, **memory}
    arguments = {name: known[name] for name, _ in probe.source.signature}
    return Launch(probe.source, probe.grid, arguments)


def _memory(operand: Operand, values: NDArray[Any] | None) -> Memory:
    format_ = FORMATS[operand.data_type]
    elements = np.empty(operand.elements + 2 * _FENCE, format_.numpy)
    elements.view(np.uint8).fill(_POISON)
    if values is not None:
        laid_out(elements, _FENCE, operand)[...] = held(values, operand.data_type)
    return Memory(format_.triton, elements, _FENCE)
