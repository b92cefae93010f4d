"""What an expression can still come to when some of its names are known only to lie in a range."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Range = tuple[Any, Any]
"""Lowest and highest value, as numbers or as arrays of them."""
Ranges = Mapping[str, Range]

_INT_LIMIT = 1 << 62
_ANYTHING: Range = (-math.inf, math.inf)


def value_range(node: ast.expr, env: Ranges) -> Range:
    """A range that holds every value of `node`; infinite where nothing better is known or 64 bits may not do."""
    visitor = _VALUES.get(type(node))
    low, high = truth_range(node, env) if visitor is None else visitor(node, env)
    return _limited(low), _limited(high)


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


def _limited(end: Any) -> Any:
    if isinstance(end, int) and abs(end) >= _INT_LIMIT:
        return math.copysign(math.inf, end)
    return end


def _finite(*ends: Any) -> bool:
    return all(bool(np.all(np.isfinite(end))) for end in ends)


def _whole(truth: Any) -> Any:
    return np.asarray(truth).astype(np.int64)


def _extremes(candidates: Sequence[Any]) -> Range:
    low = high = candidates[0]
    for candidate in candidates[1:]:
        low, high = np.minimum(low, candidate), np.maximum(high, candidate)
    return low, high


def _constant(node: ast.Constant, env: Ranges) -> Range:
    value = node.value
    return (value, value) if isinstance(value, int | float) else _ANYTHING


def _arithmetic(node: ast.BinOp, env: Ranges) -> Range:
    (a, b), (c, d) = value_range(node.left, env), value_range(node.right, env)
    kind = type(node.op)
    if not _finite(a, b, c, d) or _overflows(kind, _reach(a, b), _reach(c, d)):
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
        divide: Callable[[Any, Any], Any] = np.divide if kind is ast.Div else np.floor_divide
        return _extremes([divide(a, c), divide(a, d), divide(b, c), divide(b, d)])
    return _ANYTHING


def _reach(low: Any, high: Any) -> Any:
    """The largest magnitude in a range, as a float, which does not overflow."""
    return np.maximum(np.abs(np.asarray(low, np.float64)), np.abs(np.asarray(high, np.float64)))


def _overflows(kind: type[ast.operator], left: Any, right: Any) -> bool:
    """Whether a sum, difference or product of such magnitudes may leave 64 bits."""
    result = left * right if kind is ast.Mult else left + right
    return bool(np.any(result >= _INT_LIMIT))


def _remainder(a: Any, b: Any, c: Any, d: Any) -> Range:
    if not np.all(np.asarray(c) > 0):
        reach = np.maximum(np.abs(c), np.abs(d))
        return -reach, reach
    if np.ndim(c) == 0 and np.ndim(d) == 0 and c == d:
        same_period = np.floor_divide(a, c) == np.floor_divide(b, c)
        return np.where(same_period, np.mod(a, c), 0), np.where(same_period, np.mod(b, c), d)
    return 0, d


def _sign(node: ast.UnaryOp, env: Ranges) -> Range:
    if isinstance(node.op, ast.Not):
        low, high = truth_range(node.operand, env)
        return 1 - high, 1 - low
    low, high = value_range(node.operand, env)
    return (-high, -low) if isinstance(node.op, ast.USub) else (low, high)


def _union(node: ast.BoolOp, env: Ranges) -> Range:
    ranges = [value_range(value, env) for value in node.values]
    return _extremes([low for low, _ in ranges])[0], _extremes([high for _, high in ranges])[1]


def _conditional(node: ast.IfExp, env: Ranges) -> Range:
    surely, possibly = truth_range(node.test, env)
    yes, no = value_range(node.body, env), value_range(node.orelse, env)
    low = np.where(surely == 1, yes[0], np.where(possibly == 0, no[0], np.minimum(yes[0], no[0])))
    high = np.where(surely == 1, yes[1], np.where(possibly == 0, no[1], np.maximum(yes[1], no[1])))
    return low, high


def _call(node: ast.Call, env: Ranges) -> Range:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    listed = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List | ast.Set) else node.args
    ranges = [value_range(argument, env) for argument in listed]
    lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
    if name == "min":
        return _extremes(lows)[0], _extremes(highs)[0]
    if name == "max":
        return _extremes(lows)[1], _extremes(highs)[1]
    ((low, high),) = ranges
    if name == "abs":
        return np.maximum(0, np.maximum(low, -high)), np.maximum(high, -low)
    return (np.floor(low), np.ceil(high)) if name in ("ceil", "floor") else _ANYTHING


def _compare(node: ast.Compare, env: Ranges) -> Range:
    surely: Any = 1
    possibly: Any = 1
    left = value_range(node.left, env)
    for comparison, target in zip(node.ops, node.comparators, strict=True):
        decide = _DECIDED.get(type(comparison))
        right = _ANYTHING if decide is None else value_range(target, env)
        low, high = (0, 1) if decide is None else decide(left, right)
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
