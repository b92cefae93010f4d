"""Every call of a family's method: what it raises or answers wrongly is the family's error, with its graph."""

from __future__ import annotations

import math
import numbers
import traceback
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from winnow.dtypes import FORMATS
from winnow.errors import InputError
from winnow.families.adapter import Declined, FamilyAdapter, Field, Operand, Problem
from winnow.graphs.model import Graph

T = TypeVar("T")

METHODS = ("problem", "request", "inputs", "reference", "tolerance", "score")
"""What a family must be able to do, besides saying its `name` and `vocabulary`."""


class CheckedFamily:
    """A family held to the contract of `FamilyAdapter`: whoever calls it may rely on what comes back.

    Raises:
        InputError: from every method, naming family, method and graph, where the family raises anything but InputError
            (or, from `problem`, Declined), or gives something else than the contract says. What a family refuses by
            other means is not a verdict.
    """

    def __init__(self, name: str, adapter: Any) -> None:
        self._registered, self._adapter = name, adapter

    @property
    def name(self) -> str:
        """The family's name."""
        return self._text("name", self._read("name"))

    @property
    def vocabulary(self) -> Mapping[str, frozenset[str]]:
        """For each field of a problem that is text, every text that it can be."""
        words = self._read("vocabulary")
        sound = isinstance(words, Mapping) and all(isinstance(known, frozenset) for known in words.values())
        if not sound:
            raise self._fault("vocabulary", "", f"is {words!r}, not sets of texts by field")
        return dict(words)

    def problem(self, graph: Graph) -> Problem:
        """What the graph asks for. Raises Declined when it is not this family's."""
        found: Problem = self._call("problem", graph.name, graph)
        wrong = _wrong_in(found)
        if wrong is not None:
            raise self._fault("problem", graph.name, f"gave {wrong}")
        return replace(found, graph=graph.name)

    def request(self, problem: Problem, arch: str) -> Any:
        """The registry request that a problem is."""
        found = self._call("request", problem.graph, problem, arch)
        if found is None:
            raise self._fault("request", problem.graph, "gave None, not a request")
        return found

    def inputs(self, problem: Problem, seed: int) -> dict[str, NDArray[Any]]:
        """Input tensors by role."""
        found = self._call("inputs", problem.graph, problem, seed)
        wanted = [operand for operand in problem.operands if not operand.output]
        self._check_tensors("inputs", problem, found, wanted)
        for operand in wanted:
            dtype = "float32" if FORMATS[operand.data_type].held_as_bits else FORMATS[operand.data_type].numpy
            if found[operand.role].dtype != dtype:
                said = f"gave {operand.role} as {found[operand.role].dtype}, its type {operand.data_type} is {dtype}"
                raise self._fault("inputs", problem.graph, said)
        return dict(found)

    def reference(self, problem: Problem, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """True outputs by role, in float64."""
        found = self._call("reference", problem.graph, problem, inputs)
        wanted = [operand for operand in problem.operands if operand.output]
        self._check_tensors("reference", problem, found, wanted)
        for operand in wanted:
            if found[operand.role].dtype != np.float64:
                said = f"gave {operand.role} as {found[operand.role].dtype}: the truth is computed in float64"
                raise self._fault("reference", problem.graph, said)
            if not np.isfinite(found[operand.role]).all():
                raise self._fault("reference", problem.graph, f"gave {operand.role} elements that are not finite")
        return dict(found)

    def tolerance(self, problem: Problem) -> tuple[float, float]:
        """(rtol, atol) for outputs of a problem."""
        found = self._call("tolerance", problem.graph, problem)
        pair = tuple(found) if isinstance(found, tuple | list) else ()
        if len(pair) != 2 or not all(_is_number(part) and math.isfinite(part) and part >= 0 for part in pair):
            raise self._fault("tolerance", problem.graph, f"gave {found!r}, not two finite numbers from 0 up")
        return float(pair[0]), float(pair[1])

    def score(self, metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
        """Predicted merit of a kernel for a problem."""
        found = self._call("score", "", metadata, fields)
        try:
            value = float(found) if _is_number(found) else math.nan
        except OverflowError:
            value = math.nan
        if math.isnan(value):
            raise self._fault("score", "", f"gave {found!r}, not a number")
        return value

    def _call(self, method: str, graph: str, *arguments: Any) -> Any:
        try:
            return getattr(self._adapter, method)(*arguments)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            if method == "problem" and isinstance(error, Declined):
                raise
            raise self._fault(method, graph, _raised(error)) from error

    def _read(self, attribute: str) -> Any:
        try:
            return getattr(self._adapter, attribute, None)
        except (Exception, SystemExit) as error:
            raise self._fault(attribute, "", _raised(error)) from error

    def _check_tensors(self, method: str, problem: Problem, found: Any, wanted: list[Operand]) -> None:
        roles = sorted(operand.role for operand in wanted)
        if not isinstance(found, Mapping) or set(found) != set(roles):
            given = sorted(found, key=str) if isinstance(found, Mapping) else f"a value of type {type(found).__name__}"
            raise self._fault(method, problem.graph, f"gave {given}, not tensors for the roles {roles}")
        for operand in wanted:
            tensor = found[operand.role]
            if not isinstance(tensor, np.ndarray):
                said = f"gave {operand.role} as a value of type {type(tensor).__name__}, not an array"
                raise self._fault(method, problem.graph, said)
            if tensor.shape != operand.dims:
                said = f"gave {operand.role} the shape {tensor.shape}, the graph's is {operand.dims}"
                raise self._fault(method, problem.graph, said)

    def _text(self, attribute: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self._fault(attribute, "", f"is {value!r}, not a text")
        return value

    def _fault(self, method: str, graph: str, said: str) -> InputError:
        where = f" on {graph}" if graph else ""
        return InputError(
            f'family "{self._registered}": {method}{where} {said}',
            cure="correct the family's adapter; docs/plugins.md says what each method gives",
        )


class CheckedProbes(CheckedFamily):
    """A family that also says on which graphs its kernels are checked."""

    def probes(self, metadata: Mapping[str, Field]) -> tuple[Graph, ...]:
        """Small graphs that a kernel with this metadata serves and that meet all that it does."""
        found = self._call("probes", "", metadata)
        graphs = tuple(found) if isinstance(found, tuple | list) else ()
        if not graphs or not all(isinstance(graph, Graph) for graph in graphs):
            raise self._fault("probes", "", f"gave {found!r}, not one or more graphs")
        return graphs


def checked(name: str, adapter: Any) -> FamilyAdapter:
    """A registered family, held to its contract.

    Raises:
        InputError: a class in place of an instance, or a family that lacks a method.
    """
    if isinstance(adapter, type):
        raise InputError(
            f'family "{name}": {adapter.__name__} is a class, not an adapter',
            cure=f"register an instance of it: ADAPTER = {adapter.__name__}()",
        )
    bare = CheckedFamily(name, adapter)
    missing = [method for method in METHODS if not callable(bare._read(method))]
    if missing:
        raise InputError(
            f'family "{name}": {type(adapter).__name__} has no method {missing[0]}',
            cure="docs/plugins.md lists the methods of a family",
        )
    return CheckedProbes(name, adapter) if callable(bare._read("probes")) else bare


def _wrong_in(found: Any) -> str | None:
    """Why the value that a family's `problem` gave is not a sound Problem, or None where it is."""
    if not isinstance(found, Problem):
        return f"a value of type {type(found).__name__}, not a Problem"
    if not isinstance(found.fields, Mapping):
        return f"the fields {found.fields!r}, not values by field"
    for field, value in found.fields.items():
        if not isinstance(value, int | float | str | bool) or value != value:
            return f'{value!r} for the field "{field}"'
    if not _is_number(found.flops) or not 0 <= found.flops < math.inf:
        return f"{found.flops!r} flops, not a number from 0 up"
    operands = found.operands
    if not isinstance(operands, tuple) or not operands or not all(isinstance(one, Operand) for one in operands):
        return f"the operands {operands!r}, not a tuple of Operand"
    roles = [operand.role for operand in operands]
    for operand in operands:
        if len(operand.dims) != len(operand.strides):
            return f"{operand.role} {len(operand.dims)} dims and {len(operand.strides)} strides"
        if operand.data_type not in FORMATS:
            return f"{operand.role} the unknown type {operand.data_type!r}"
        if roles.count(operand.role) > 1:
            return f"two operands the role {operand.role}"
    return None


def _raised(error: BaseException) -> str:
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"raised {type(error).__name__}: {error} ({at.filename}:{at.lineno})"


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
