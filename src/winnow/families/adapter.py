"""What a kernel family must say about graphs: which problem a graph poses, its inputs and its true result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from winnow.graphs.model import Graph

Field = int | float | str | bool


class Declined(Exception):
    """The family does not serve this graph; `str()` is the reason."""


@dataclass(frozen=True)
class Operand:
    """One tensor of a problem: logical dims, strides in elements, the graph's data type (`float`)."""

    role: str
    uid: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    data_type: str
    output: bool

    @property
    def elements(self) -> int:
        """Elements of memory that the strides span."""
        return 1 + sum((d - 1) * s for d, s in zip(self.dims, self.strides, strict=True)) if math.prod(self.dims) else 0


@dataclass(frozen=True)
class Problem:
    """What a graph asks for: the fields that matchers compare and kernels take by name, and its tensors."""

    fields: Mapping[str, Field]
    operands: tuple[Operand, ...]
    flops: int
    graph: str = ""
    """Name of the graph that poses it, for messages; whoever calls a family's `problem` fills it in."""


class FamilyAdapter(Protocol):
    """One family's side of the graph contract. Registered in the entry-point group `winnow.families`."""

    @property
    def name(self) -> str: ...

    @property
    def vocabulary(self) -> Mapping[str, frozenset[str]]:
        """For each field of a problem that is text, every text that it can be: what metadata is compared with."""
        ...

    def problem(self, graph: Graph) -> Problem:
        """Raises Declined with the reason when the graph is not this family's."""
        ...

    def request(self, problem: Problem, arch: str) -> Any:
        """The registry request that this problem is (for coverage: would a candidate serve it?)."""
        ...

    def inputs(self, problem: Problem, seed: int) -> dict[str, NDArray[Any]]:
        """Input tensors by role, of the operands' logical dims and data type, the same for the same seed."""
        ...

    def reference(self, problem: Problem, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """True outputs by role, of logical dims, computed in float64."""
        ...

    def tolerance(self, problem: Problem) -> tuple[float, float]:
        """(rtol, atol) for outputs of this problem."""
        ...

    def score(self, metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
        """Predicted merit of a kernel for a problem before anything was measured; larger is better."""
        ...
