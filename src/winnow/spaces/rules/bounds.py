"""What an expression can still come to when some of its names are known only to lie in a range.

Single integers are Python's and exact at any size; beside arrays of 64 bits, and beside floats, they are limited.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from winnow.spaces.rules.batch import FLOAT_LIMIT, INT_LIMIT

Range = tuple[Any, Any]
"""Lowest and highest value, as numbers or as arrays of them."""
Ranges = Mapping[str, Range]

_ANYTHING: Range = (-math.inf, math.inf)


def value_range(node: ast.expr, env: Ranges) -> Range:
    """A range that holds every value of `node`; infinite where nothing better is known or 64 bits may not do."""
    visitor = _VALUES.get(type(node))
    low, high = truth_range(node, env) if visitor is None else visitor(node, env)
    return _plain(low), _plain(high)


def truth_range(node: ast.expr, env: Ranges) -> Range:
    """0 and 1 as the least and the most that the truth of `node` can be: (1, 1) is certainly true."""
    visitor = _TRUTHS.get(type(node))
    if visitor is not None:
        return visitor(node, env)
    low, high = value_range(node, env)
    return _whole(np.logical_or(low > 0, high < 0)), _whole(np.logical_or(low != 0, high != 0))


def may_raise(node: ast.expr, env: Ranges) -> bool:
    """Whether a division, a logarithm or a power in `node` could meet a value that it raises for. `env` has scalars."""
    return any(_RISKS[type(part)](part, env) for part in ast.walk(node) if type(part) in _RISKS)


def _risky_arithmetic(node: ast.BinOp, env: Ranges) -> bool:
    if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
        low, high = value_range(node.right, env)
        return bool(low <= 0 <= high)
    return isinstance(node.op, ast.Pow)


def _risky_call(node: ast.Call, env: Ranges) -> bool:
    return ast.unparse(node.func) == "log2" and bool(value_range(node.args[0], env)[0] <= 0)


def _plain(end: Any) -> Any:
    """A Python number for a single one."""
    return end.item() if isinstance(end, np.generic | np.ndarray) and np.ndim(end) == 0 else end


def _alike(*ranges: Range) -> Sequence[Range]:
    """The ranges as they are if all ends are Python's integers, else with all integers within 64 bits."""
    if all(isinstance(end, int) for ends in ranges for end in ends):
        return ranges
    limited = [(_limited(low, -math.inf), _limited(high, math.inf)) for low, high in ranges]
    if not any(_floating(end) for ends in limited for end in ends):
        return limited
    return [(_rounded(low, -math.inf), _rounded(high, math.inf)) for low, high in limited]


def _limited(end: Any, outward: float) -> Any:
    if not isinstance(end, int) or abs(end) < INT_LIMIT:
        return end
    if (end > 0) == (outward > 0):
        return outward
    return INT_LIMIT if end > 0 else -INT_LIMIT


def _rounded(end: Any, outward: float) -> Any:
    """Integers that floats may not have as the next floats outward; arrays would round them to the nearest."""
    exact = _floating(end) or np.all(np.abs(end) < FLOAT_LIMIT)
    return end if exact else np.nextafter(np.asarray(end, np.float64), outward)


def _floating(end: Any) -> bool:
    return isinstance(end, float) or np.asarray(end).dtype == np.float64


def _finite(*ends: Any) -> bool:
    return all(isinstance(end, int) or bool(np.all(np.isfinite(end))) for end in ends)


def _whole(truth: Any) -> Any:
    return np.asarray(truth).astype(np.int64)


def _least(one: Any, other: Any) -> Any:
    return np.minimum(one, other) if np.ndim(one) or np.ndim(other) else min(one, other)


def _most(one: Any, other: Any) -> Any:
    return np.maximum(one, other) if np.ndim(one) or np.ndim(other) else max(one, other)


def _where(condition: Any, yes: Any, no: Any) -> Any:
    if np.ndim(condition):
        return np.where(condition, yes, no)
    return yes if condition else no


def _extremes(candidates: Sequence[Any]) -> Range:
    return reduce(_least, candidates), reduce(_most, candidates)


def _constant(node: ast.Constant, env: Ranges) -> Range:
    value = node.value
    return (value, value) if isinstance(value, int | float) else _ANYTHING


def _arithmetic(node: ast.BinOp, env: Ranges) -> Range:
    (a, b), (c, d) = _alike(value_range(node.left, env), value_range(node.right, env))
    kind = type(node.op)
    if not _finite(a, b, c, d) or _overflows(kind, (a, b), (c, d)):
        return _ANYTHING
    if kind is ast.Add:
        return a + c, b + d
    if kind is ast.Sub:
        return a - d, b - c
    if kind is ast.Mult:
        return _extremes([a * c, a * d, b * c, b * d])
    if kind is ast.Mod:
        return _remainder(a, b, c, d)
    if kind in (ast.Div, ast.FloorDiv) and np.all((np.asarray(c) > 0) | (np.asarray(d) < 0)):
        if kind is ast.Div and any(isinstance(end, int) and abs(end) >= INT_LIMIT for end in (a, b, c, d)):
            return _ANYTHING
        divide: Callable[[Any, Any], Any] = operator.truediv if kind is ast.Div else operator.floordiv
        return _extremes([divide(a, c), divide(a, d), divide(b, c), divide(b, d)])
    return _ANYTHING


def _overflows(kind: type[ast.operator], left: Range, right: Range) -> bool:
    """Whether a sum, difference or product of such ranges may leave the 64 bits that its numbers have."""
    if all(isinstance(end, int) for end in (*left, *right)):
        return False
    one, other = _reach(*left), _reach(*right)
    return bool(np.any((one * other if kind is ast.Mult else one + other) >= INT_LIMIT))


def _reach(low: Any, high: Any) -> Any:
    """The largest magnitude in a range, as a float, which does not overflow."""
    return np.maximum(np.abs(np.asarray(low, np.float64)), np.abs(np.asarray(high, np.float64)))


def _remainder(a: Any, b: Any, c: Any, d: Any) -> Range:
    if not np.all(np.asarray(c) > 0):
        reach = _most(abs(c), abs(d))
        return -reach, reach
    if np.ndim(c) == 0 and np.ndim(d) == 0 and c == d:
        same_period = a // c == b // c
        return _where(same_period, a % c, 0), _where(same_period, b % c, d)
    return 0, d


def _sign(node: ast.UnaryOp, env: Ranges) -> Range:
    if isinstance(node.op, ast.Not):
        low, high = truth_range(node.operand, env)
        return 1 - high, 1 - low
    low, high = value_range(node.operand, env)
    return (-high, -low) if isinstance(node.op, ast.USub) else (low, high)


def _union(node: ast.BoolOp, env: Ranges) -> Range:
    ranges = _alike(*[value_range(value, env) for value in node.values])
    return reduce(_least, [low for low, _ in ranges]), reduce(_most, [high for _, high in ranges])


def _conditional(node: ast.IfExp, env: Ranges) -> Range:
    truth = truth_range(node.test, env)
    (surely, possibly), yes, no = _alike(truth, value_range(node.body, env), value_range(node.orelse, env))
    low = _where(surely == 1, yes[0], _where(possibly == 0, no[0], _least(yes[0], no[0])))
    high = _where(surely == 1, yes[1], _where(possibly == 0, no[1], _most(yes[1], no[1])))
    return low, high


def _call(node: ast.Call, env: Ranges) -> Range:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    listed = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List | ast.Set) else node.args
    ranges = _alike(*[value_range(argument, env) for argument in listed])
    lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
    if name in ("min", "max"):
        pick = _least if name == "min" else _most
        return reduce(pick, lows), reduce(pick, highs)
    ((low, high),) = ranges
    if name == "abs":
        return _most(0, _most(low, -high)), _most(high, -low)
    if name in ("ceil", "floor"):
        return (low, high) if isinstance(low, int) else (np.floor(low), np.ceil(high))
    return _ANYTHING


def _compare(node: ast.Compare, env: Ranges) -> Range:
    surely: Any = 1
    possibly: Any = 1
    left = value_range(node.left, env)
    for comparison, target in zip(node.ops, node.comparators, strict=True):
        decide = _DECIDED.get(type(comparison))
        right = _ANYTHING if decide is None else value_range(target, env)
        low, high = (0, 1) if decide is None else decide(*_alike(left, right))
        surely, possibly = np.minimum(surely, low), np.minimum(possibly, high)
        left = right
    return surely, possibly


def _less(left: Range, right: Range) -> Range:
    return _whole(left[1] < right[0]), _whole(left[0] < right[1])


def _at_most(left: Range, right: Range) -> Range:
    return _whole(left[1] <= right[0]), _whole(left[0] <= right[1])


def _equal(left: Range, right: Range) -> Range:
    met = (left[0] <= right[1]) & (right[0] <= left[1])
    one = (left[0] == left[1]) & (right[0] == right[1]) & (left[0] == right[0])
    return _whole(one), _whole(met)


def _unequal(left: Range, right: Range) -> Range:
    low, high = _equal(left, right)
    return 1 - high, 1 - low


def _logic(node: ast.BoolOp, env: Ranges) -> Range:
    ranges = [truth_range(value, env) for value in node.values]
    pick = 0 if isinstance(node.op, ast.And) else 1
    return _extremes([low for low, _ in ranges])[pick], _extremes([high for _, high in ranges])[pick]


_DECIDED: Mapping[type[ast.cmpop], Callable[[Range, Range], Range]] = {
    ast.Lt: _less,
    ast.LtE: _at_most,
    ast.Gt: lambda left, right: _less(right, left),
    ast.GtE: lambda left, right: _at_most(right, left),
    ast.Eq: _equal,
    ast.NotEq: _unequal,
}
_VALUES: Mapping[type[ast.expr], Callable[[Any, Ranges], Range]] = {
    ast.Name: lambda node, env: env[node.id],
    ast.Constant: _constant,
    ast.BinOp: _arithmetic,
    ast.UnaryOp: _sign,
    ast.BoolOp: _union,
    ast.IfExp: _conditional,
    ast.Call: _call,
}
_TRUTHS: Mapping[type[ast.expr], Callable[[Any, Ranges], Range]] = {
    ast.Compare: _compare,
    ast.BoolOp: _logic,
}
_RISKS: Mapping[type[ast.AST], Callable[[Any, Ranges], bool]] = {
    ast.BinOp: _risky_arithmetic,
    ast.Call: _risky_call,
}
