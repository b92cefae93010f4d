"""Rewrites a rule as axes become known: what can be computed becomes a slot, and only what is open stays a tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from winnow.spaces.rules.algebra import compared, factors, names_of, product_of, rebuilt, sum_of, summands, whole
from winnow.spaces.rules.bounds import Range, value_range


def against_zero(node: ast.expr, floats: frozenset[str]) -> TypeGuard[ast.Compare]:
    """Whether a residual compares an integer with 0."""
    match node:
        case ast.Compare(left=left, ops=[_], comparators=[ast.Constant(value=int(0))]):
            return whole(left, floats)
    return False


@dataclass
class Rewriter:
    """Holds the residual of a rule and rewrites it as axes become known.

    `ranges` has the range of every term and slot, `floats` the names of those that are not integers; `slots` are those
    that the residual reads, each as an expression over the slots before and the terms of the last axis.
    """

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
            case ast.Call(func=ast.Name(id="max" | "min") as function, args=[_, _, *_] as args):

                def join(parts: Sequence[ast.expr]) -> ast.expr:
                    return ast.Call(function, list(parts), []) if len(parts) > 1 else parts[0]

                return self._cut_group(args, join, self._cut, join)
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
        if not against_zero(residual, self.floats) or type(residual.ops[0]) not in _QUOTIENTS:
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
