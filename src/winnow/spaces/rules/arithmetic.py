"""Arithmetic of rules: Python's over numbers, refused over text and where a result would be too large."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

_LARGEST_POWER_BITS = 1 << 14
_LONGEST_SHOWN = 40


class TextArithmetic(TypeError):
    """Arithmetic over text, by which a short rule could exceed any memory."""

    cure = "compare text with ==, != or `in`; arithmetic in rules is for numbers"


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent`, refusing a result so large that a mistyped rule would never finish."""
    if (
        isinstance(base, int)
        and isinstance(exponent, int)
        and exponent > 0
        and base.bit_length() * exponent > _LARGEST_POWER_BITS
        and abs(base) > 1
    ):
        raise OverflowError(f"{base} ** {exponent} is too large")
    return base**exponent


def numbers(values: Iterable[Any]) -> bool:
    """Whether all values are numbers or truths."""
    return set(map(type, values)) <= {bool, int, float}


def _of_numbers(sign: str, operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def refusing(left: Any, right: Any) -> Any:
        if isinstance(left, _TEXTS) or isinstance(right, _TEXTS):
            raise TextArithmetic(f"{_shown(left)} {sign} {_shown(right)} is arithmetic over text")
        return operation(left, right)

    return refusing


_TEXTS = (str, bytes, list, tuple)


def _shown(value: object) -> str:
    text = repr(value[:_LONGEST_SHOWN] if isinstance(value, _TEXTS) else value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: _of_numbers("+", operator.add),
    ast.Sub: _of_numbers("-", operator.sub),
    ast.Mult: _of_numbers("*", operator.mul),
    ast.Div: _of_numbers("/", operator.truediv),
    ast.FloorDiv: _of_numbers("//", operator.floordiv),
    ast.Mod: _of_numbers("%", operator.mod),
    ast.Pow: _of_numbers("**", power),
}
"""What each sign of the grammar does. Raises TextArithmetic, OverflowError and what Python raises."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
}
_GLOBALS = {
    "__builtins__": {},
    **FUNCTIONS,
    **{f"_winnow_{kind.__name__}": operation for kind, operation in ARITHMETIC.items()},
}


def compiled(tree: ast.expr, reads: Iterable[str], texts: Container[str]) -> Callable[..., Any]:
    """A tree of the grammar as a function of the values of `reads`, in that order; `texts` are those that may be text.

    The function raises TextArithmetic for arithmetic over text.
    """
    own = ast.parse(ast.unparse(tree), mode="eval").body
    return plainly_compiled(ast.unparse(_Guard(texts).visit(own)), reads)


def plainly_compiled(text: str, reads: Iterable[str]) -> Callable[..., Any]:
    """An expression of the grammar without texts or powers as a function of numbers."""
    made: Callable[..., Any] = eval(f"lambda {', '.join(reads)}: (\n{text}\n)", _GLOBALS)
    return made


class _Guard(ast.NodeTransformer):
    """Puts the functions of ARITHMETIC in place of powers and of what may be arithmetic over text."""

    def __init__(self, texts: Container[str]) -> None:
        self.texts = texts

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        guarded = isinstance(node.op, ast.Pow) or self.may_be_text(node.left) or self.may_be_text(node.right)
        self.generic_visit(node)
        if not guarded:
            return node
        return ast.Call(ast.Name(f"_winnow_{type(node.op).__name__}", ast.Load()), [node.left, node.right], [])

    def may_be_text(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=value):
                return isinstance(value, str)
            case ast.Name(id=name):
                return name in self.texts
            case ast.BoolOp(values=parts) | ast.Call(args=parts) | ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
                return any(map(self.may_be_text, parts))
            case ast.IfExp(body=body, orelse=orelse):
                return self.may_be_text(body) or self.may_be_text(orelse)
            case _:
                return False
