"""The outcomes of an expression over whole axes, block by block so that memory stays bounded."""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from winnow.spaces.rules.batch import Batch, Unsuitable, column, constant
from winnow.spaces.rules.outcome import NO, RAISED, YES
from winnow.spaces.rules.vector import evaluate

_BLOCK = 1 << 18
_FEWEST_PER_BLOCK = 1 << 10


def outcomes(tree: ast.expr, inputs: Mapping[str, tuple[int, Sequence[Any]]], sizes: Sequence[int]) -> bytes:
    """The outcomes of an expression over the product of `sizes`, the last axis running fastest: 0, 1, 2 = raised.

    `inputs` has for each name the position of the axis that it follows (-1: a constant) and its values.

    Raises:
        Unsuitable: the expression has to be evaluated by Python, choice by choice.
    """
    arrays = {name: column(values) for name, (at, values) in inputs.items() if at >= 0}
    looped = {inputs[name][0] for name, array in arrays.items() if array is None}
    pieces, block = _pieces(sizes, looped)
    if block < _FEWEST_PER_BLOCK:
        raise Unsuitable("too few choices at once")
    fixed = {name: constant(values[0]) for name, (at, values) in inputs.items() if at < 0}
    out = np.empty(tuple(sizes), dtype=np.uint8)
    for where in product(*pieces):
        env = dict(fixed)
        for name, (at, values) in inputs.items():
            if at in looped:
                env[name] = constant(values[where[at].start])
            elif at >= 0:
                env[name] = _along(arrays[name], where[at], at, len(sizes))
        result = evaluate(tree, env)
        found = np.where(result.truth(), YES, NO)
        out[where] = found if result.raised is None else np.where(result.raised, RAISED, found)
    return out.tobytes()


def _pieces(sizes: Sequence[int], looped: Container[int]) -> tuple[list[list[slice]], int]:
    """For every axis the slices in which it is taken, so that blocks have a good size, which is returned as well."""
    pieces: list[list[slice]] = [[] for _ in sizes]
    block = 1
    for at in range(len(sizes) - 1, -1, -1):
        step = 1 if at in looped else max(1, min(sizes[at], _BLOCK // block))
        pieces[at] = [slice(low, low + step) for low in range(0, sizes[at], step)]
        block *= step
    return pieces, block


def _along(array: Any, part: slice, at: int, axes: int) -> Batch:
    shape = [1] * axes
    shape[at] = -1
    return Batch(array[part].reshape(shape), array.min().item(), array.max().item())
