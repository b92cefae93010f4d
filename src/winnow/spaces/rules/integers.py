"""Integers of any size in columns: of 64 bits where they fit, else Python's own, calculated one by one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from winnow.spaces.rules.algebra import names_of
from winnow.spaces.rules.arithmetic import compiled
from winnow.spaces.rules.batch import Batch, Unsuitable
from winnow.spaces.rules.effort import OverBudget
from winnow.spaces.rules.vector import evaluate

_FITTING = 1 << 61

Array = Any


def column(values: Sequence[Any]) -> Array:
    """Numbers as an array."""
    return fitted(np.array(values, dtype=object)) if all(isinstance(v, int) for v in values) else np.array(values)


def fitted(numbers: Array) -> Array:
    """Python's integers or truths as 64 bits, if they fit."""
    return numbers.astype(np.int64) if np.all((numbers < _FITTING) & (numbers > -_FITTING)) else numbers


def large(numbers: Array) -> bool:
    """Whether a column holds Python's own integers."""
    return bool(numbers.dtype == object)


@dataclass
class Arithmetic:
    """Evaluates expressions over columns; `most` calls of Python are left for integers that need it (None: none do)."""

    most: int | None

    def evaluated(self, tree: ast.expr, columns: Mapping[str, Array]) -> Array:
        """The values of an expression that cannot raise; columns are broadcast against each other.

        Raises:
            Unsuitable: 64 bits may not do, and nothing else is allowed.
            OverBudget: more calls than are allowed.
        """
        if not any(map(large, columns.values())):
            try:
                return _numbers(evaluate(tree, {name: _batch(values) for name, values in columns.items()}))
            except Unsuitable:
                if self.most is None:
                    raise
        names = sorted(names_of(tree))
        taken = np.broadcast_arrays(*[columns[name] for name in names])
        self.most = (self.most or 0) - taken[0].size
        if self.most < 0:
            raise OverBudget
        one_by_one: Any = np.frompyfunc(_unraising(compiled(tree, names, ())), len(names), 1)
        return fitted(one_by_one(*[values.astype(object) for values in taken]))


def _unraising(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call with 0 where it raises: in rows that are settled, whose columns were cleared, as 64 bits wrap there."""

    def answer(*values: Any) -> Any:
        try:
            return call(*values)
        except ArithmeticError:
            return 0

    return answer


def _batch(values: Array) -> Batch:
    return Batch(values, values.min().item(), values.max().item())


def _numbers(batch: Batch) -> Array:
    array = np.asarray(batch.value)
    return array.astype(np.int64) if array.dtype == np.bool_ else array
