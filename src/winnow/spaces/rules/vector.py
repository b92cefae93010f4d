"""Evaluates an expression for many choices at once, or says that array arithmetic might differ from Python's."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from winnow.spaces.rules.arithmetic import ARITHMETIC, FUNCTIONS
from winnow.spaces.rules.batch import (
    Batch,
    Mask,
    Unsuitable,
    constant,
    either,
    number,
    refuse_inexact,
    refuse_unfitting,
    truths,
    within,
)

_MOST_MAPPED = 1 << 16


def evaluate(tree: ast.expr, env: Mapping[str, Batch]) -> Batch:
    """The value of an expression of the grammar. Raises Unsuitable."""
    with np.errstate(all="ignore"):
        return _run(tree, env)


def _run(node: ast.expr, env: Mapping[str, Batch]) -> Batch:
    return _VISITORS[type(node)](node, env)


def _scalars(function: Callable[..., Any], *operands: Batch) -> Batch:
    raised = either(*[operand.raised for operand in operands])
    try:
        value = constant(function(*[operand.value for operand in operands]))
    except (ArithmeticError, TypeError, ValueError):
        return Batch(0, 0, 0, True)
    return Batch(value.value, value.low, value.high, raised)


def _corners(function: Callable[[Any, Any], Any], left: Batch, right: Batch) -> tuple[Any, Any]:
    found = [function(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    return min(found), max(found)


def _arithmetic(node: ast.BinOp, env: Mapping[str, Batch]) -> Batch:
    left, right = _run(node.left, env), _run(node.right, env)
    kind = type(node.op)
    if left.scalar and right.scalar:
        return _scalars(_PYTHON[kind], left, right)
    left, right = number(left), number(right)
    raised = either(left.raised, right.raised)
    if kind in (ast.Div, ast.FloorDiv, ast.Mod):
        return _division(kind, left, right, raised)
    refuse_inexact(left, right)
    if kind is ast.Pow:
        return _powers(left, right, raised)
    low, high = _corners(_PYTHON[kind], left, right)
    refuse_unfitting(low, high, left.whole and right.whole)
    return Batch(_PYTHON[kind](left.value, right.value), low, high, raised)


def _division(kind: type[ast.operator], left: Batch, right: Batch, raised: Mask) -> Batch:
    refuse_inexact(left, right, limit_whole=kind is ast.Div)
    low, high = right.low, right.high
    if low <= 0 <= high:
        if right.scalar:
            return Batch(0, 0, 0, True)
        zero = right.value == 0
        raised = either(raised, zero)
        right = Batch(np.where(zero, 1, right.value), min(low, 1), max(high, 1))
    value = _PYTHON[kind](left.value, right.value)
    if kind is ast.Mod:
        reach = max(abs(low), abs(high), 1)
        return Batch(value, -reach if low < 0 else 0, reach if high > 0 else 0, raised)
    smallest = 1 if right.whole else float(np.min(np.abs(right.value)))
    reach = max(abs(left.low), abs(left.high)) / smallest + 1
    refuse_unfitting(-reach, reach, left.whole and right.whole)
    return Batch(value, 0 if left.low >= 0 and right.low > 0 else -reach, reach, raised)


def _powers(base: Batch, exponent: Batch, raised: Mask) -> Batch:
    if not (base.whole and exponent.whole) or exponent.low < 0 or exponent.high > 64:
        raise Unsuitable("a power of other than small integers")
    reach = max(abs(base.low), abs(base.high), 1) ** exponent.high
    refuse_unfitting(-reach, reach, True)
    value = np.power(np.asarray(base.value, np.int64), np.asarray(exponent.value, np.int64))
    return Batch(value, 0 if base.low >= 0 else -reach, reach, raised)


def _compare(node: ast.Compare, env: Mapping[str, Batch]) -> Batch:
    left = _run(node.left, env)
    truth: Any = True
    raised: Mask = left.raised
    for i, (comparison, target) in enumerate(zip(node.ops, node.comparators, strict=True)):
        if isinstance(comparison, ast.In | ast.NotIn):
            if i + 1 < len(node.ops):
                raise Unsuitable("a comparison with a collection")
            step, step_raised = _membership(left, target, env)
            right = left
            if isinstance(comparison, ast.NotIn):
                step = not step if isinstance(step, bool) else ~step
        else:
            right = _run(target, env)
            step, step_raised = _compare_two(type(comparison), left, right), right.raised
            if step is None:
                step, step_raised = False, True
        raised = either(raised, within(step_raised, truth))
        truth = step if truth is True else truth & step
        left = right
    return truths(truth, raised)


def _compare_two(kind: type[ast.cmpop], left: Batch, right: Batch) -> Any:
    """The truth of one comparison; None where Python raises."""
    if left.scalar and right.scalar:
        try:
            return bool(_PYTHON[kind](left.value, right.value))
        except TypeError:
            return None
    for side in (left, right):
        if not side.numeric:
            if not (side.value is None or isinstance(side.value, str)):
                raise Unsuitable("a comparison with something that is not a scalar")
            return kind is ast.NotEq if kind in (ast.Eq, ast.NotEq) else None
    left, right = number(left), number(right)
    refuse_inexact(left, right)
    return _PYTHON[kind](left.value, right.value)


def _membership(left: Batch, target: ast.expr, env: Mapping[str, Batch]) -> tuple[Any, Mask]:
    if not isinstance(target, ast.Tuple | ast.List | ast.Set):
        raise Unsuitable("membership in a value")
    truth: Any = False
    raised: Mask = None
    for element in target.elts:
        item = _run(element, env)
        raised = either(raised, item.raised)
        truth = truth | _compare_two(ast.Eq, left, item)
    return truth, raised


def _logic(node: ast.BoolOp, env: Mapping[str, Batch]) -> Batch:
    goes_on_while = isinstance(node.op, ast.And)
    result = _run(node.values[0], env)
    for following in node.values[1:]:
        reached = result.truth() if goes_on_while else _not(result.truth())
        if reached is False:
            continue
        after = _run(following, env)
        raised = either(result.raised, within(after.raised, reached))
        result = _choose(reached, after, result, raised)
    return result


def _not(truth: Any) -> Any:
    return not truth if isinstance(truth, bool) else ~truth


def _choose(where: Any, yes: Batch, no: Batch, raised: Mask) -> Batch:
    if where is True:
        return Batch(yes.value, yes.low, yes.high, raised)
    if where is False:
        return Batch(no.value, no.low, no.high, raised)
    if not (yes.numeric and no.numeric):
        raise Unsuitable("a choice between things that are not numbers")
    both_truths = all(np.asarray(side.value).dtype == np.bool_ for side in (yes, no))
    if not both_truths:
        yes, no = number(yes), number(no)
        refuse_inexact(yes, no)
    return Batch(np.where(where, yes.value, no.value), min(yes.low, no.low), max(yes.high, no.high), raised)


def _conditional(node: ast.IfExp, env: Mapping[str, Batch]) -> Batch:
    test = _run(node.test, env)
    where = test.truth()
    if isinstance(where, bool):
        taken = _run(node.body if where else node.orelse, env)
        return Batch(taken.value, taken.low, taken.high, either(test.raised, taken.raised))
    yes, no = _run(node.body, env), _run(node.orelse, env)
    raised = either(test.raised, within(yes.raised, where), within(no.raised, _not(where)))
    return _choose(where, yes, no, raised)


def _sign(node: ast.UnaryOp, env: Mapping[str, Batch]) -> Batch:
    operand = _run(node.operand, env)
    if isinstance(node.op, ast.Not):
        return truths(_not(operand.truth()), operand.raised)
    if operand.scalar:
        return _scalars(operator.neg if isinstance(node.op, ast.USub) else operator.pos, operand)
    operand = number(operand)
    if isinstance(node.op, ast.UAdd):
        return operand
    return Batch(-operand.value, -operand.high, -operand.low, operand.raised)


def _call(node: ast.Call, env: Mapping[str, Batch]) -> Batch:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    listed = node.args[0].elts if isinstance(node.args[0], ast.Tuple | ast.List | ast.Set) else node.args
    operands = [_run(argument, env) for argument in listed]
    if all(operand.scalar for operand in operands):
        return _scalars(FUNCTIONS[name], *operands)
    operands = [number(operand) for operand in operands]
    if name in ("min", "max"):
        return _extreme(name, operands)
    (operand,) = operands
    if name == "abs":
        return Batch(np.abs(operand.value), 0, max(abs(operand.low), abs(operand.high)), operand.raised)
    if name == "log2":
        return _mapped(math.log2, operand)
    if operand.whole:
        return operand
    refuse_unfitting(operand.low, operand.high, True)
    rounded = np.ceil(operand.value) if name == "ceil" else np.floor(operand.value)
    return Batch(rounded.astype(np.int64), math.floor(operand.low), math.ceil(operand.high), operand.raised)


def _extreme(name: str, operands: Sequence[Batch]) -> Batch:
    result = operands[0]
    for operand in operands[1:]:
        refuse_inexact(result, operand)
        refuse_unfitting(min(result.low, operand.low), max(result.high, operand.high), False)
        pick, of_bounds = (np.minimum, min) if name == "min" else (np.maximum, max)
        result = Batch(
            pick(result.value, operand.value),
            of_bounds(result.low, operand.low),
            of_bounds(result.high, operand.high),
            either(result.raised, operand.raised),
        )
    return result


def _mapped(function: Callable[[Any], float], operand: Batch) -> Batch:
    """A function of the C library, applied by Python, as array libraries round it differently."""
    distinct, places = np.unique(operand.value, return_inverse=True)
    if len(distinct) > _MOST_MAPPED:
        raise Unsuitable("too many different values for a function")
    raising = np.zeros(len(distinct), dtype=np.bool_)
    found = np.zeros(len(distinct))
    for i, value in enumerate(distinct.tolist()):
        try:
            found[i] = function(value)
        except ValueError:
            raising[i] = True
    places = places.reshape(operand.value.shape)
    raised = either(operand.raised, raising[places]) if raising.any() else operand.raised
    return Batch(found[places], float(found.min()), float(found.max()), raised)


_PYTHON: Mapping[type[Any], Callable[..., Any]] = {
    **ARITHMETIC,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_VISITORS: Mapping[type[ast.expr], Callable[[Any, Mapping[str, Batch]], Batch]] = {
    ast.Name: lambda node, env: env[node.id],
    ast.Constant: lambda node, env: constant(node.value),
    ast.Compare: _compare,
    ast.BoolOp: _logic,
    ast.BinOp: _arithmetic,
    ast.UnaryOp: _sign,
    ast.IfExp: _conditional,
    ast.Call: _call,
}
