"""The values of an expression for many choices: a number or an array, in known bounds, and where it raises."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

INT_LIMIT = 1 << 62
"""Integers below it fit 64 bits, and so does the sum of two of them."""
FLOAT_LIMIT = 1 << 53
"""Integers up to it are floats exactly."""

Mask = Any
"""Where an evaluation raises: None for nowhere, True for everywhere, or a boolean array."""


class Unsuitable(Exception):
    """Arrays could give another answer than Python here."""


@dataclass(frozen=True)
class Batch:
    """The values of an expression for many choices: a Python scalar for all of them, or an array.

    Arrays are bool, int64 or float64 and lie within `low` and `high`.
    """

    value: Any
    low: Any = None
    high: Any = None
    raised: Mask = None

    @property
    def scalar(self) -> bool:
        """Whether one Python value stands for all choices."""
        return not isinstance(self.value, np.ndarray)

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers or truths."""
        return not self.scalar or isinstance(self.value, bool | int | float)

    @property
    def whole(self) -> bool:
        """Whether all values are integers or truths by type."""
        return (
            self.value.dtype != np.float64 if isinstance(self.value, np.ndarray) else not isinstance(self.value, float)
        )

    def truth(self) -> Any:
        """The values' truth: a bool or an array of them."""
        if self.scalar:
            return bool(self.value)
        return self.value if self.value.dtype == np.bool_ else self.value != 0


def constant(value: Any) -> Batch:
    """One value for all choices."""
    numeric = isinstance(value, bool | int | float)
    return Batch(value, value if numeric else None, value if numeric else None)


def truths(value: Any, raised: Mask) -> Batch:
    """A batch of truths."""
    low, high = (value, value) if isinstance(value, bool) else (0, 1)
    return Batch(value, low, high, raised)


def column(values: Sequence[Any]) -> np.ndarray[Any, Any] | None:
    """The values of an axis as an array, or None where they are not all numbers that an array holds exactly."""
    kinds = set(map(type, values))
    largest = max((abs(v) for v in values if isinstance(v, bool | int)), default=0)
    if kinds <= {bool, int} and largest < INT_LIMIT:
        return np.array([int(v) for v in values], dtype=np.int64)
    if kinds <= {bool, int, float} and largest < FLOAT_LIMIT:
        return np.array([float(v) for v in values], dtype=np.float64)
    return None


def either(*masks: Mask) -> Mask:
    """Where any of several evaluations raises."""
    found = [mask for mask in masks if mask is not None and mask is not False]
    if not found:
        return None
    if any(mask is True for mask in found):
        return True
    result = found[0]
    for mask in found[1:]:
        result = result | mask
    return result


def within(mask: Mask, reached: Any) -> Mask:
    """The part of a mask that evaluation really reaches."""
    if mask is None or reached is False:
        return None
    if reached is True:
        return mask
    return reached if mask is True else mask & reached


def number(batch: Batch) -> Batch:
    """The batch as numbers of at most 64 bits. Raises Unsuitable."""
    if not batch.numeric:
        raise Unsuitable("arithmetic with something that is not a number")
    if batch.scalar and batch.whole and abs(batch.value) >= INT_LIMIT:
        raise Unsuitable("an integer beyond 64 bits")
    if not batch.scalar and batch.value.dtype == np.bool_:
        return Batch(batch.value.astype(np.int64), 0, 1, batch.raised)
    return batch


def refuse_unfitting(low: Any, high: Any, whole: bool) -> None:
    """Refuse a result of these bounds that might not fit. Raises Unsuitable."""
    if whole and max(abs(low), abs(high)) >= INT_LIMIT:
        raise Unsuitable("may exceed 64 bits")
    if not (abs(low) <= sys.float_info.max and abs(high) <= sys.float_info.max):
        raise Unsuitable("may not be finite")


def refuse_inexact(left: Batch, right: Batch, *, limit_whole: bool = False) -> None:
    """Refuse to mix integers with floats (or to divide them) where a float cannot hold them. Raises Unsuitable."""
    if limit_whole or left.whole != right.whole:
        for side in (left, right):
            if side.whole and max(abs(side.low), abs(side.high)) >= FLOAT_LIMIT:
                raise Unsuitable("integers beyond the exact range of floats")
