"""A wide rule read axis by axis: what it still needs to know of the axes behind is a handful of partial results.

`a * b * c <= n` needs no table over three axes: after `a` and `b` only the quotient `n // (a * b)` matters. The rule
is rewritten once for every axis: what can be computed by then becomes a slot, sums and products being regrouped (they
are over integers, so order does not matter), and a slot is brought to the smallest range that tells all futures apart.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np

from winnow.tuning.algebra import (
    NotLocal,
    compared,
    factors,
    localised,
    names_of,
    normal,
    product_of,
    rebuilt,
    sum_of,
    summands,
    whole,
)
from winnow.tuning.bounds import Range, may_raise, truth_range, value_range
from winnow.tuning.vector import Batch, Unsuitable, evaluate

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
    rewriter = _Rewriter(tree, ranges, floats)
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
    rewriter: _Rewriter, ahead: Mapping[str, tuple[int, Sequence[Any]]], first: int, sizes: Sequence[int]
) -> Array | None:
    """All values of the open part of the residual, if that compares the sum of one slot and an open part with 0."""
    residual = rewriter.residual
    if len(rewriter.slots) != 1 or not _against_zero(residual, rewriter.floats):
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


def _against_zero(node: ast.expr, floats: frozenset[str]) -> TypeGuard[ast.Compare]:
    """Whether a residual compares an integer with 0."""
    match node:
        case ast.Compare(left=left, ops=[_], comparators=[ast.Constant(value=int(0))]):
            return whole(left, floats)
    return False


@dataclass
class _Rewriter:
    """Holds the residual of a rule and rewrites it as axes become known."""

    residual: ast.expr
    ranges: dict[str, Range]
    floats: frozenset[str]
    slots: dict[str, ast.expr] = field(default_factory=dict)
    closed: frozenset[str] = frozenset()
    made: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def close(self, terms: frozenset[str]) -> dict[str, ast.expr]:
        """Take the terms of one more axis as known; returns each slot's expression over old slots and the terms."""
        self.closed = terms | frozenset(self.slots)
        self.slots, self.made = {}, {}
        self.residual = self._cut_truth(self.residual)
        self._divide()
        used = names_of(self.residual)
        self.slots = {name: tree for name, tree in self.slots.items() if name in used}
        return self.slots

    def _slot(self, tree: ast.expr) -> ast.Name:
        key = ast.dump(tree)
        name = self.made.get(key)
        if name is None:
            name = self.made[key] = f"s{self.count}"
            self.count += 1
            self.slots[name] = tree
            self.ranges[name] = value_range(tree, self.ranges)
            if not whole(tree, self.floats):
                self.floats |= {name}
        return ast.Name(name, ast.Load())

    def _known(self, node: ast.expr) -> bool:
        return names_of(node) <= self.closed

    def _cut_truth(self, node: ast.expr) -> ast.expr:
        """As `_cut`, where only the truth of `node` is asked for, so that `and` and `or` may be regrouped."""
        if isinstance(node, ast.BoolOp):
            op = node.op

            def join(parts: Sequence[ast.expr]) -> ast.expr:
                return ast.BoolOp(op, list(parts)) if len(parts) > 1 else parts[0]

            return self._cut_group(node.values, join, self._cut_truth, join)
        return self._cut(node)

    def _cut(self, node: ast.expr) -> ast.expr:
        """`node` with everything that is known in slots."""
        reads = names_of(node)
        if not reads & self.closed:
            return node
        if reads <= self.closed:
            return self._slot(node)
        match node:
            case ast.BinOp(op=ast.Add() | ast.Sub()) if whole(node, self.floats):
                return self._cut_sum(summands(node))
            case ast.BinOp(op=ast.Mult()) if whole(node, self.floats):
                return self._cut_group(factors(node), product_of, self._cut, product_of)
            case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int(m))) if m > 0:
                if whole(left, self.floats):
                    return self._cut_remainder(left, m)
        return rebuilt(node, self._cut)

    def _cut_sum(self, parts: Sequence[tuple[int, ast.expr]]) -> ast.expr:
        known = [(sign, part) for sign, part in parts if self._known(part)]
        ahead = [(sign, self._cut(part)) for sign, part in parts if not self._known(part)]
        if not any(names_of(part) for _, part in known):
            return sum_of([*ahead, *known])
        return sum_of([*ahead, (1, self._slot(sum_of(known)))])

    def _cut_group(
        self,
        parts: Sequence[ast.expr],
        close: Callable[[Sequence[ast.expr]], ast.expr],
        cut: Callable[[ast.expr], ast.expr],
        join: Callable[[Sequence[ast.expr]], ast.expr],
    ) -> ast.expr:
        """The operands joined again, those that are known closed into one slot and each other one cut."""
        known = [part for part in parts if self._known(part)]
        ahead = [cut(part) for part in parts if not self._known(part)]
        if any(names_of(part) for part in known):
            known = [self._slot(close(known))]
        return join([*known, *ahead])

    def _cut_remainder(self, left: ast.expr, modulus: int) -> ast.expr:
        """Of a sum or a product whose remainder is asked for, only the remainder of the known part matters."""

        def reduced(node: ast.expr) -> ast.expr:
            return ast.BinOp(node, ast.Mod(), ast.Constant(modulus))

        def cut(part: ast.expr) -> ast.expr:
            return self._cut_group(factors(part), lambda known: reduced(product_of(known)), self._cut, product_of)

        parts = summands(left)
        known = [(sign, part) for sign, part in parts if self._known(part)]
        ahead = [(sign, cut(part)) for sign, part in parts if not self._known(part)]
        if any(names_of(part) for _, part in known):
            known = [(1, self._slot(reduced(sum_of(known))))]
        return reduced(sum_of([*ahead, *known]))

    def _divide(self) -> None:
        """`known * open + known <= 0` needs the quotient of the two only; the same for the other three orders."""
        residual = self.residual
        if not _against_zero(residual, self.floats) or type(residual.ops[0]) not in _QUOTIENTS:
            return
        parts = summands(residual.left)
        ahead = [(sign, part) for sign, part in parts if not self._settled(part)]
        if len(ahead) != 1:
            return
        sign, term = ahead[0]
        op = type(residual.ops[0])
        if sign < 0:
            parts, op = [(-s, part) for s, part in parts], _MIRRORED[op]
        scales = [part for part in factors(term) if self._settled(part)]
        opened = [part for part in factors(term) if not self._settled(part)]
        scale = product_of(scales)
        if not scales or not whole(term, self.floats) or not value_range(scale, self.ranges)[0] > 0:
            return
        offset = self._unfolded(sum_of([(s, part) for s, part in parts if self._settled(part)]))
        rest = product_of(opened)
        impossible = ast.Constant(-int(value_range(rest, self.ranges)[1]) - 1)
        quotient, op = _QUOTIENTS[op](offset, self._unfolded(scale), impossible)
        slot = quotient if not names_of(quotient) else self._slot(quotient)
        self.residual = compared([(1, rest), (1, slot)], op())

    def _settled(self, node: ast.expr) -> bool:
        return names_of(node) <= frozenset(self.slots)

    def _unfolded(self, node: ast.expr) -> ast.expr:
        """`node` over the old slots and the terms, in place of the new slots."""
        if isinstance(node, ast.Name):
            return self.slots.get(node.id, node)
        return rebuilt(node, self._unfolded)


def _minus(node: ast.expr, constant: int = 0) -> ast.expr:
    return sum_of([(-1, node), (1, ast.Constant(constant))])


def _floor(numerator: ast.expr, denominator: ast.expr) -> ast.expr:
    return ast.BinOp(numerator, ast.FloorDiv(), denominator)


def _exact(op: type[ast.cmpop], offset: ast.expr, scale: ast.expr, impossible: ast.expr) -> _Quotient:
    """The quotient where there is one; else what no value of the open part can be the negative of."""
    divides = ast.Compare(ast.BinOp(offset, ast.Mod(), scale), [ast.Eq()], [ast.Constant(0)])
    return ast.IfExp(divides, _floor(offset, scale), impossible), op


_Quotient = tuple[ast.expr, type[ast.cmpop]]
_QUOTIENTS: Mapping[type[ast.cmpop], Callable[[ast.expr, ast.expr, ast.expr], _Quotient]] = {
    # scale * x + offset <= 0  holds when  x <= floor(-offset / scale), and so on for the others.
    ast.LtE: lambda offset, scale, _: (_minus(_floor(_minus(offset), scale)), ast.LtE),
    ast.Lt: lambda offset, scale, _: (_minus(_floor(_minus(offset, -1), scale)), ast.LtE),
    ast.GtE: lambda offset, scale, _: (_floor(offset, scale), ast.GtE),
    ast.Gt: lambda offset, scale, _: (_floor(sum_of([(1, offset), (-1, ast.Constant(1))]), scale), ast.GtE),
    ast.Eq: lambda offset, scale, impossible: _exact(ast.Eq, offset, scale, impossible),
    ast.NotEq: lambda offset, scale, impossible: _exact(ast.NotEq, offset, scale, impossible),
}
_MIRRORED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
