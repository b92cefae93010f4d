"""A wide rule read axis by axis: what it still needs to know of the axes behind is a handful of partial results.

`a * b * c <= n` needs no table over three axes: after `a` and `b` only the quotient `n // (a * b)` matters. The rule
is rewritten once for every axis: what can be computed by then becomes a slot, sums and products being regrouped (they
are over integers, so order does not matter), and a slot is brought to the smallest range that tells all futures apart.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from winnow.tuning.algebra import NotLocal, factors, localised, names_of, normal, sum_of, summands, whole
from winnow.tuning.batch import Batch, Unsuitable
from winnow.tuning.bounds import Range, may_raise, truth_range, value_range
from winnow.tuning.rewriting import Rewriter, against_zero
from winnow.tuning.vector import evaluate

_ACHIEVABLE = 1 << 17

Array = Any


@dataclass(frozen=True)
class _Step:
    """What happens at one axis: slots computed from the slots before and the axis' terms, and what is left to hold.

    Where that is a comparison of 0 with the only slot and an open part, `ahead` has the open part's values over the
    axes to come, and `rest` has them sorted.
    """

    terms: Mapping[str, Array]
    updates: tuple[ast.expr, ...]
    names: tuple[str, ...]
    residual: ast.expr
    ahead: Array | None
    rest: Array | None


@dataclass(frozen=True)
class Partial:
    """A rule as a machine over its scope. Its state is a column that says whether it already holds, and its slots."""

    scope: tuple[int, ...]
    steps: tuple[_Step, ...]
    open_ranges: Mapping[str, Range]
    raised: bool = False

    def advance(self, depth: int, state: Sequence[Array], size: int, wanted: Array) -> tuple[Array, list[Array]]:
        """See `machines.Machine`."""
        step, env = self.steps[depth], dict[str, Batch]()
        rows = len(state[0]) if state else 1
        if rows == 0:
            return np.zeros((0, size), dtype=np.bool_), [np.zeros((0, size), dtype=np.int64)] * (1 + len(step.names))
        before = self.steps[depth - 1].names if depth else ()
        for name, column in zip(before, state[1:], strict=True):
            env[name] = _batch(column)
        for name, values in step.terms.items():
            env[name] = _batch(values.reshape(1, -1))
        slots = [np.broadcast_to(_numbers(evaluate(u, env)), (rows, size)) for u in step.updates]
        ranges: dict[str, Range] = dict(self.open_ranges)
        ranges.update({name: (slot, slot) for name, slot in zip(step.names, slots, strict=True)})
        with np.errstate(all="ignore"):
            surely, possibly = truth_range(step.residual, ranges)
        held = np.broadcast_to(surely == 1, (rows, size))
        alive = np.broadcast_to(possibly == 1, (rows, size))
        if step.rest is not None:
            slots, held, alive = _narrowed(step, slots[0], held, alive)
        if state:
            held, alive = held | (state[0] == 1), alive | (state[0] == 1)
        return alive, [held.astype(np.int64), *(np.where(held, 0, slot) for slot in slots)]


def _batch(column: Array) -> Batch:
    return Batch(column, column.min().item(), column.max().item())


def _numbers(batch: Batch) -> Array:
    array = np.asarray(batch.value)
    return array.astype(np.int64) if array.dtype == np.bool_ else array


def _narrowed(step: _Step, slot: Array, held: Array, alive: Array) -> tuple[list[Array], Array, Array]:
    """Replace the slot by the representative of all slots that no value of the open rest tells apart.

    The residual is `rest + slot <op> 0`, i.e. `rest <op> bound` with the bound -slot.
    """
    assert isinstance(step.residual, ast.Compare)
    rest: Array = step.rest
    op, bound = type(step.residual.ops[0]), -slot
    last = len(rest) - 1
    if op in (ast.LtE, ast.Gt):
        place = np.searchsorted(rest, bound, side="right") - 1
        none, every = place < 0, place == last
        if op is ast.Gt:
            none, every = every, none
        return [-rest[np.maximum(place, 0)]], held | every, alive & ~none
    place = np.searchsorted(rest, bound, side="left")
    none, every = place == 0, place > last
    if op in (ast.Lt, ast.GtE):
        if op is ast.GtE:
            none, every = every, none
        return [-rest[np.minimum(place, last)]], held | every, alive & ~none
    missing = every | (rest[np.minimum(place, last)] != bound)
    return [slot], held | (missing & (op is ast.NotEq)), alive & ~(missing & (op is ast.Eq))


def partial(
    tree: ast.expr, inputs: Mapping[str, tuple[int, Sequence[Any]]], scope: Sequence[int], sizes: Sequence[int]
) -> Partial:
    """The rule as a machine; `inputs` has for each name its place in `scope` (-1: a constant) and its values.

    Raises:
        Unsuitable: the rule may raise, or its numbers may not fit into machine integers.
    """
    try:
        local, terms = localised(tree, inputs)
    except (NotLocal, ArithmeticError, TypeError, ValueError):
        raise Unsuitable("a term of one axis is no number") from None
    ranges: dict[str, Range] = {name: (min(values), max(values)) for name, (_, values) in terms.items()}
    floats = frozenset(name for name, (_, values) in terms.items() if any(isinstance(v, float) for v in values))
    tree = normal(local, floats)
    _refuse_unless_safe(tree, ranges, floats)
    rewriter = Rewriter(tree, ranges, floats)
    steps: list[_Step] = []
    for at in range(len(scope)):
        own = {name: np.array(values) for name, (axis, values) in terms.items() if axis == at}
        ahead = {name: terms[name] for name in terms if terms[name][0] > at}
        updates = rewriter.close(frozenset(own))
        cells = math.prod(sizes[at + 1 :])
        open_part = _open_part(rewriter, ahead, at + 1, sizes[at + 1 :]) if cells <= _ACHIEVABLE and ahead else None
        rest = None if open_part is None else np.unique(open_part)
        steps.append(_Step(own, tuple(updates.values()), tuple(updates), rewriter.residual, open_part, rest))
    return Partial(tuple(scope), tuple(steps), ranges)


def _refuse_unless_safe(tree: ast.expr, ranges: Mapping[str, Range], floats: frozenset[str]) -> None:
    """Every partial sum and product, however grouped, must fit; nothing may raise."""
    if may_raise(tree, ranges):
        raise Unsuitable("may raise")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and not isinstance(node.value, bool | int | float):
            raise Unsuitable("something that is no number")
        if isinstance(node, ast.BinOp) and whole(node, floats):
            reaches = [_reach(part, ranges) for _, part in summands(node)]
            product_reach = math.prod([max(1, _reach(part, ranges)) for part in factors(node)])
            if sum(reaches) >= 1 << 61 or product_reach >= 1 << 61:
                raise Unsuitable("may exceed 64 bits")


def _reach(node: ast.expr, ranges: Mapping[str, Range]) -> float:
    low, high = value_range(node, ranges)
    return float(max(abs(low), abs(high)))


def _open_part(
    rewriter: Rewriter, ahead: Mapping[str, tuple[int, Sequence[Any]]], first: int, sizes: Sequence[int]
) -> Array | None:
    """All values of the open part of the residual, if that compares the sum of one slot and an open part with 0."""
    residual = rewriter.residual
    if len(rewriter.slots) != 1 or not against_zero(residual, rewriter.floats):
        return None
    (slot,) = rewriter.slots
    parts = summands(residual.left)
    ahead_only = [(sign, part) for sign, part in parts if slot not in names_of(part)]
    bare = [sign for sign, part in parts if isinstance(part, ast.Name) and part.id == slot]
    if bare != [1] or len(ahead_only) + 1 != len(parts):
        return None
    env = {}
    for name, (at, values) in ahead.items():
        shape = [1] * len(sizes)
        shape[at - first] = -1
        env[name] = _batch(np.array(values).reshape(shape))
    return np.broadcast_to(_numbers(evaluate(sum_of(ahead_only), env)), tuple(sizes)).ravel()
