"""A wide rule read axis by axis: of the axes already read it keeps only a handful of partial results.

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

from winnow.spaces.rules.algebra import NotLocal, Signed, factors, localised, names_of, normal, sum_of, summands, whole
from winnow.spaces.rules.batch import FLOAT_LIMIT, Unsuitable
from winnow.spaces.rules.bounds import Range, may_raise, truth_range, value_range
from winnow.spaces.rules.integers import Arithmetic, column, fitted, large
from winnow.spaces.rules.rewriting import Rewriter, against_zero

_ACHIEVABLE = 1 << 17

Array = Any


@dataclass(frozen=True)
class _Step:
    """What happens at one axis: slots computed from the slots before and the axis' terms, and what is left to hold.

    Where that is a comparison of 0 with the sum of the only slot and an open part, `open_range` is the range of that
    part; unless there are too many, `ahead` has its values over the axes to come, and `rest` has them sorted.
    """

    terms: Mapping[str, Array]
    updates: tuple[ast.expr, ...]
    names: tuple[str, ...]
    residual: ast.expr
    open_range: Range | None
    ahead: Array | None
    rest: Array | None


@dataclass(frozen=True)
class Partial:
    """A rule as an array automaton. Its state: a column that says whether the rule already holds, and its slots."""

    scope: tuple[int, ...]
    steps: tuple[_Step, ...]
    open_ranges: Mapping[str, Range]
    arithmetic: Arithmetic
    raised: bool = False

    def advance(self, depth: int, state: Sequence[Array], size: int, wanted: Array) -> tuple[Array, list[Array]]:
        """See `ArrayAutomaton`."""
        step = self.steps[depth]
        rows = len(state[0]) if state else 1
        if rows == 0:
            return np.zeros((0, size), dtype=np.bool_), [np.zeros((0, size), dtype=np.int64)] * (1 + len(step.names))
        before = self.steps[depth - 1].names if depth else ()
        known = dict(zip(before, state[1:], strict=True))
        known.update({name: values.reshape(1, -1) for name, values in step.terms.items()})
        slots = [np.broadcast_to(self.arithmetic.evaluated(u, known), (rows, size)) for u in step.updates]
        if step.open_range is not None and large(slots[0]):
            low, high = step.open_range
            slots = [fitted(np.clip(slots[0], -high - 1, 1 - low))]  # all further ones leave the comparison as it is
        surely, possibly = self._truth(step, dict(zip(step.names, slots, strict=True)))
        held = np.broadcast_to(surely == 1, (rows, size))
        alive = np.broadcast_to(possibly == 1, (rows, size))
        if step.rest is not None:
            slots, held, alive = _narrowed(step, slots[0], held, alive)
        if state:
            held, alive = held | (state[0] == 1), alive | (state[0] == 1)
        return alive, [held.astype(np.int64), *(np.where(held, 0, slot) for slot in slots)]

    def _truth(self, step: _Step, slots: Mapping[str, Array]) -> Range:
        """0 and 1 as the least and the most that the truth of the residual can still be."""
        if not any(map(large, slots.values())):
            with np.errstate(all="ignore"):
                return truth_range(
                    step.residual, {**self.open_ranges, **{n: (slot, slot) for n, slot in slots.items()}}
                )
        if not names_of(step.residual) <= slots.keys():
            return np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
        truth = (self.arithmetic.evaluated(step.residual, slots) != 0).astype(np.int64)
        return truth, truth


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
    tree: ast.expr,
    inputs: Mapping[str, tuple[int, Sequence[Any]]],
    scope: Sequence[int],
    sizes: Sequence[int],
    most_calls: int,
) -> Partial:
    """The rule as an automaton; `inputs` has for each name its place in `scope` (-1: a constant) and its values.

    Integers that may not fit into 64 bits are calculated by Python, with `most_calls`.

    Raises:
        Unsuitable: the rule may raise, or has floats beside integers that may not fit into 64 bits.
        OverBudget: calculating what is ahead takes more calls.
    """
    try:
        local, terms = localised(tree, inputs)
    except (NotLocal, ArithmeticError, TypeError, ValueError):
        raise Unsuitable("a term of one axis is not a number") from None
    ranges: dict[str, Range] = {name: (min(values), max(values)) for name, (_, values) in terms.items()}
    floats = frozenset(name for name, (_, values) in terms.items() if any(isinstance(v, float) for v in values))
    tree = normal(local, floats)
    _refuse_unless_safe(tree, ranges, floats)
    arithmetic = Arithmetic(most_calls if _integral(tree, floats) else None)
    rewriter = Rewriter(tree, ranges, floats)
    steps: list[_Step] = []
    for at in range(len(scope)):
        own = {name: column(values) for name, (axis, values) in terms.items() if axis == at}
        ahead = {name: terms[name] for name in terms if terms[name][0] > at}
        updates = rewriter.close(frozenset(own))
        parts = _open_sum(rewriter)
        listed = rest = None
        if parts is not None and ahead and math.prod(sizes[at + 1 :]) <= _ACHIEVABLE:
            listed = _values(parts, ahead, at + 1, sizes[at + 1 :], arithmetic)
            rest = np.unique(listed)
        open_range = None if parts is None else value_range(sum_of(parts), ranges)
        steps.append(_Step(own, tuple(updates.values()), tuple(updates), rewriter.residual, open_range, listed, rest))
    return Partial(tuple(scope), tuple(steps), ranges, arithmetic)


def _refuse_unless_safe(tree: ast.expr, ranges: Mapping[str, Range], floats: frozenset[str]) -> None:
    """Nothing may raise. Beside floats every integer, and every partial sum and product, must fit into one."""
    if may_raise(tree, ranges):
        raise Unsuitable("may raise")
    reaches = [_reach(ast.Name(name), ranges) for name in ranges if name not in floats]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, bool | int | float):
                raise Unsuitable("something that is not a number")
            reaches += [abs(node.value)] if isinstance(node.value, int) else []
        if isinstance(node, ast.BinOp) and whole(node, floats):
            added = [_reach(part, ranges) for _, part in summands(node)]
            multiplied = [max(1, _reach(part, ranges)) for part in factors(node)]
            reaches += [math.inf] if math.inf in (*added, *multiplied) else [sum(added), math.prod(multiplied)]
    if max(reaches, default=0) >= (math.inf if _integral(tree, floats) else FLOAT_LIMIT):
        raise Unsuitable("may exceed what floats hold exactly, or have no bounds")


def _integral(tree: ast.expr, floats: frozenset[str]) -> bool:
    """Whether whatever is calculated is an integer or a truth."""
    parts = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.Call | ast.Constant)]
    return not floats and all(whole(part, floats) for part in parts)


def _reach(node: ast.expr, ranges: Mapping[str, Range]) -> Any:
    low, high = value_range(node, ranges)
    return max(abs(low), abs(high))


def _open_sum(rewriter: Rewriter) -> list[Signed] | None:
    """The open part of the residual, if that compares the sum of one slot and an open part with 0."""
    residual = rewriter.residual
    if len(rewriter.slots) != 1 or not against_zero(residual, rewriter.floats):
        return None
    (slot,) = rewriter.slots
    parts = summands(residual.left)
    ahead_only = [(sign, part) for sign, part in parts if slot not in names_of(part)]
    bare = [sign for sign, part in parts if isinstance(part, ast.Name) and part.id == slot]
    return ahead_only if bare == [1] and len(ahead_only) + 1 == len(parts) else None


def _values(
    parts: Sequence[Signed],
    ahead: Mapping[str, tuple[int, Sequence[Any]]],
    first: int,
    sizes: Sequence[int],
    arithmetic: Arithmetic,
) -> Array:
    """All values of a sum over the axes from `first` on."""
    columns = {}
    for name, (at, values) in ahead.items():
        shape = [1] * len(sizes)
        shape[at - first] = -1
        columns[name] = column(values).reshape(shape)
    return np.broadcast_to(arithmetic.evaluated(sum_of(parts), columns), tuple(sizes)).ravel()
