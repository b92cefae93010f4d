"""Expressions taken apart and put together again: where numbers are integers, sums and products may be regrouped."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from winnow.spaces.rules.arithmetic import compiled, numbers

Signed = tuple[int, ast.expr]
_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class NotLocal(Exception):
    """Something that is not a number crosses from one axis to another."""


def names_of(node: ast.expr) -> frozenset[str]:
    """The names that an expression reads."""
    if isinstance(node, ast.Name):
        return frozenset((node.id,))
    return frozenset().union(*map(names_of, operands(node)))


def operands(node: ast.expr) -> list[ast.expr]:
    """The expressions that `node` is made of, without displays in between."""
    match node:
        case ast.BoolOp(values=values):
            found: Iterable[ast.expr] = values
        case ast.BinOp(left=left, right=right):
            found = (left, right)
        case ast.UnaryOp(operand=operand):
            found = (operand,)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            found = (test, body, orelse)
        case ast.Compare(left=left, comparators=comparators):
            found = (left, *comparators)
        case ast.Call(args=args):
            found = args
        case _:
            found = ()
    return [part for node in found for part in (node.elts if isinstance(node, _DISPLAYS) else (node,))]


def rebuilt(node: ast.expr, change: Callable[[ast.expr], ast.expr]) -> ast.expr:
    """`node` with each of its operands changed."""

    def each(nodes: Sequence[ast.expr]) -> list[ast.expr]:
        return [
            ast.Tuple(each(part.elts), ast.Load()) if isinstance(part, _DISPLAYS) else change(part) for part in nodes
        ]

    match node:
        case ast.BoolOp(op=op, values=values):
            return ast.BoolOp(op, each(values))
        case ast.BinOp(left=left, op=op, right=right):
            return ast.BinOp(change(left), op, change(right))
        case ast.UnaryOp(op=op, operand=operand):
            return ast.UnaryOp(op, change(operand))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return ast.IfExp(change(test), change(body), change(orelse))
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return ast.Compare(change(left), ops, each(comparators))
        case ast.Call(func=func, args=args):
            return ast.Call(func, each(args), [])
        case _:
            return node


def localised(
    tree: ast.expr, inputs: Mapping[str, tuple[int, Sequence[Any]]]
) -> tuple[ast.expr, dict[str, tuple[int, list[Any]]]]:
    """The tree over terms that follow one axis each, and each term's axis and values; evaluated by Python itself.

    `inputs` has for each name the position of its axis (-1: a constant) and its values.

    Raises:
        NotLocal: a term has a value that is not a number.
        Exception: what Python raises for a term.
    """
    terms: dict[str, tuple[int, list[Any]]] = {}
    named: dict[str, str] = {}
    texts = {name for name, (_, values) in inputs.items() if not numbers(values)}

    def local(node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant):
            return node
        reads = sorted(names_of(node))
        axes = {inputs[name][0] for name in reads} - {-1}
        if len(axes) > 1:
            return rebuilt(node, local)
        function = compiled(node, reads, texts)
        if not axes:
            return ast.Constant(function(*[inputs[name][1][0] for name in reads]))
        (axis,) = axes
        size = max(len(inputs[name][1]) for name in reads if inputs[name][0] == axis)
        rows = zip(*[v if at >= 0 else [v[0]] * size for at, v in (inputs[name] for name in reads)], strict=True)
        values = [function(*row) for row in rows]
        if not numbers(values):
            raise NotLocal
        name = named.setdefault(ast.dump(node), f"t{len(named)}")
        terms[name] = axis, [int(v) if isinstance(v, bool) else v for v in values]
        return ast.Name(name, ast.Load())

    return local(tree), terms


def whole(node: ast.expr, floats: frozenset[str]) -> bool:
    """Whether the value of `node` is an integer or a truth by type, given the names that hold floats."""
    match node:
        case ast.Name(id=name):
            return name not in floats
        case ast.Constant(value=value):
            return isinstance(value, bool | int)
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BinOp(op=ast.Div() | ast.Pow()):
            return False
        case ast.Call(func=ast.Name(id=name)) if name in ("log2", "ceil", "floor"):
            return name != "log2"
        case ast.IfExp(body=body, orelse=orelse):
            return whole(body, floats) and whole(orelse, floats)
        case _:
            return all(whole(part, floats) for part in operands(node))


def normal(node: ast.expr, floats: frozenset[str]) -> ast.expr:
    """The same truth with `not` pushed inward, chains split, and comparisons of integers made against 0."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _negated(operand, floats)
        case ast.BoolOp(op=op, values=values):
            return ast.BoolOp(op, [normal(value, floats) for value in values])
        case ast.Compare(left=left, ops=ops, comparators=comparators) if len(ops) > 1:
            sides = [left, *comparators]
            pairs = [ast.Compare(sides[i], [op], [sides[i + 1]]) for i, op in enumerate(ops)]
            return ast.BoolOp(ast.And(), [normal(pair, floats) for pair in pairs])
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if isinstance(op, ast.In | ast.NotIn) or not (whole(left, floats) and whole(right, floats)):
                return node
            return compared([*summands(left), *summands(right, -1)], op)
        case _:
            return node


def _negated(node: ast.expr, floats: frozenset[str]) -> ast.expr:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return normal(operand, floats)
        case ast.BoolOp(op=op, values=values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            return ast.BoolOp(other, [_negated(value, floats) for value in values])
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return normal(ast.Compare(left, [_OPPOSITE[type(op)]()], [right]), floats)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [left, *comparators]
            pairs = [ast.Compare(sides[i], [op], [sides[i + 1]]) for i, op in enumerate(ops)]
            return ast.BoolOp(ast.Or(), [_negated(pair, floats) for pair in pairs])
        case _:
            return ast.UnaryOp(ast.Not(), node)


def compared(parts: Sequence[Signed], op: ast.cmpop) -> ast.Compare:
    """The comparison of a sum with 0."""
    needed = [(sign, part) for sign, part in parts if not (isinstance(part, ast.Constant) and part.value == 0)]
    return ast.Compare(sum_of(needed), [op], [ast.Constant(0)])


def summands(node: ast.expr, sign: int = 1) -> list[Signed]:
    """The signed terms of a sum of integers."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*summands(left, sign), *summands(right, sign)]
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return [*summands(left, sign), *summands(right, -sign)]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return summands(operand, -sign)
        case _:
            return [(sign, node)]


def factors(node: ast.expr) -> list[ast.expr]:
    """The factors of a product of integers."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return [*factors(left), *factors(right)]
        case _:
            return [node]


def sum_of(parts: Sequence[Signed]) -> ast.expr:
    """The sum of signed terms."""
    total: ast.expr | None = None
    for sign, part in parts:
        if total is None:
            total = part if sign > 0 else ast.UnaryOp(ast.USub(), part)
        else:
            total = ast.BinOp(total, ast.Add() if sign > 0 else ast.Sub(), part)
    return ast.Constant(0) if total is None else total


def product_of(parts: Sequence[ast.expr]) -> ast.expr:
    """The product of factors."""
    total: ast.expr | None = None
    for part in parts:
        total = part if total is None else ast.BinOp(total, ast.Mult(), part)
    return ast.Constant(1) if total is None else total
