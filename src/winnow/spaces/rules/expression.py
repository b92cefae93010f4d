"""Rules as text: a small, safe part of Python's expressions; anything else is refused when it is read."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from winnow.errors import InputError, Place, nearest
from winnow.spaces.rules.arithmetic import FUNCTIONS, compiled, plainly_compiled

_DEEPEST = 200
"""Levels of a rule's tree: what reads it is recursive. Python's parser has as many levels of parentheses."""
_TOO_DEEP = "split the rule, or group a long sum or product: (a + b) + (c + d)"
_AT_LEAST_TWO = {"min", "max"}
_GUARDED = re.compile(r"\*\*|['\"]")
"""Powers and texts, without which an expression over numbers is Python's own."""

_GRAMMAR = (
    "rules may use numbers, strings, names, + - * / // % **, comparisons, in, and, or, not, a if c else b, "
    + ", ".join(FUNCTIONS)
)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_SIGNS = (ast.Not, ast.USub, ast.UAdd)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn)
_MEMBERSHIP = (ast.In, ast.NotIn)
_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_LITERALS = (bool, int, float, str, type(None))
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|[0-9]+(?:\.[0-9]+)?|//|[<>=!]=|\S")
_MARKS = frozenset(["+", "-", "*", "/", "//", "%", "<", "<=", ">", ">=", "==", "!=", "(", ")"])
_LOGIC = frozenset(["and", "or", "not"])
_TAKEN = frozenset(keyword.kwlist)


@dataclass(frozen=True)
class Expression:
    """A parsed expression. `reads` are the names in it, in order of first appearance; `str()` gives the text.

    Called with the values of `reads`, in that order, it gives what Python gives, but refuses arithmetic over text.
    """

    text: str
    reads: tuple[str, ...]
    of_numbers: Callable[..., Any] = field(repr=False, compare=False)
    """The same function for values that are all numbers or truths, which it does not check."""

    def __str__(self) -> str:
        return self.text

    def __call__(self, *values: Any) -> Any:
        return self._of_anything(*values)

    @cached_property
    def tree(self) -> ast.expr:
        """The expression's syntax tree; nothing but what the grammar has is in it."""
        return ast.parse(self.text.strip(), mode="eval").body

    @cached_property
    def _of_anything(self) -> Callable[..., Any]:
        return self.over(self.reads)

    def over(self, texts: Collection[str]) -> Callable[..., Any]:
        """The function for values that are numbers but for those of the names `texts`."""
        return compiled(self.tree, self.reads, texts) if texts else self.of_numbers

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """What the expression comes to with `values`.

        Raises:
            KeyError: a name of `reads` is not among `values`.
            TextArithmetic: arithmetic over text.
            Exception: whatever Python raises.
        """
        return self(*[values[name] for name in self.reads])


def parse(text: str, *, names: Container[str] | None = None, place: Place | None = None) -> Expression:
    """The expression in `text`. `names` are the names that it may read (None: any).

    Raises:
        InputError: not an expression of the grammar, or a name that is not in `names`; says the column.
    """
    if not text.strip():
        raise _refusal(text, place, None, "not an expression: it is empty")
    try:
        reads = _plain_reads(text, names)
        if reads is None:
            tree = ast.parse(text.strip(), mode="eval").body
            if not _shallow(tree):
                raise _too_deep(text, place)
            reads = _Reader(text, names, place).check(tree)
            if _GUARDED.search(text):
                return Expression(text, reads, compiled(tree, reads, ()))
        return Expression(text, reads, plainly_compiled(text, reads))
    except SyntaxError as error:
        if error.msg == "too many nested parentheses":
            raise _too_deep(text, place) from None
        raise _refusal(text, place, error.offset, f"not an expression: {error.msg}") from None
    except (MemoryError, RecursionError):
        raise _too_deep(text, place) from None
    except ValueError as error:
        raise _refusal(text, place, None, f"not an expression: {error}") from None


def _shallow(tree: ast.expr) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [part for node in level for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        if not level:
            return True
    return False


def _plain_reads(text: str, names: Container[str] | None) -> tuple[str, ...] | None:
    """The names in a rule of a few known names, numbers, operators, comparisons, logic and parentheses, else None.

    Most rules are such, and from such words, without calls, Python's parser makes nothing outside the grammar.
    """
    reads: dict[str, None] = {}
    after_operand = False
    before = ""
    words = _WORD.findall(text)
    if len(words) > _DEEPEST:
        return None
    for word in words:
        if word in _MARKS:
            if (word == "(" and after_operand) or (word == before == "*"):
                return None
            after_operand = word == ")"
        elif word in _LOGIC:
            after_operand = False
        elif after_operand or not (word[0].isdigit() or (names is not None and word in names and word not in _TAKEN)):
            return None
        else:
            after_operand = True
            if not word[0].isdigit():
                reads[word] = None
        before = word
    return tuple(reads)


def _refusal(text: str, place: Place | None, column: int | None, reason: str, cure: str = _GRAMMAR) -> InputError:
    where = "" if column is None else f" at column {column}"
    shown = text if len(text) <= 200 else text[:197] + "..."
    return InputError(f'"{shown}"{where}: {reason}', place=place, cure=cure)


def _too_deep(text: str, place: Place | None) -> InputError:
    return _refusal(text, place, None, f"nested more than {_DEEPEST} levels deep", _TOO_DEEP)


class _Reader:
    """Walks a tree once: refuses what is outside the grammar and gathers the names that are read."""

    def __init__(self, text: str, names: Container[str] | None, place: Place | None) -> None:
        self.text, self.names, self.place = text, names, place
        self.reads: dict[str, None] = {}
        self.called: set[str] = set()

    def check(self, tree: ast.expr) -> tuple[str, ...]:
        """The names that are read. Raises InputError."""
        self.visit(tree)
        for name in self.called:
            if name in self.reads or (self.names is not None and name in self.names):
                raise self.refuse(tree, f'"{name}" is a knob or a field here, so it cannot be called')
        return tuple(self.reads)

    def refuse(self, node: ast.expr, reason: str) -> InputError:
        return _refusal(self.text, self.place, node.col_offset + 1, reason)

    def visit(self, node: ast.expr) -> None:
        visitor = _VISITORS.get(type(node))
        if visitor is None:
            raise self.refuse(node, f"{_SPOKEN.get(type(node), type(node).__name__)} is not a part of rules")
        visitor(self, node)

    def name(self, node: ast.Name) -> None:
        if self.names is not None and node.id not in self.names:
            known = self.names if isinstance(self.names, Iterable) else ()
            raise InputError(
                f'"{self.text}" at column {node.col_offset + 1}: unknown name "{node.id}"',
                place=self.place,
                cure=nearest(node.id, known),
            )
        if node.id.startswith("__"):
            raise self.refuse(node, f'"{node.id}": names with two leading underscores are not a part of rules')
        self.reads[node.id] = None

    def constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, _LITERALS):
            raise self.refuse(node, f"{node.value!r} is not a part of rules")

    def compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if not isinstance(operator, _COMPARISONS):
                raise self.refuse(right, "`is` is not a part of rules: compare with ==")
            if isinstance(operator, _MEMBERSHIP) and isinstance(right, _DISPLAYS):
                self.each(right.elts)
            else:
                self.visit(right)

    def logic(self, node: ast.BoolOp) -> None:
        self.each(node.values)

    def arithmetic(self, node: ast.BinOp) -> None:
        if not isinstance(node.op, _OPERATORS):
            raise self.refuse(node, f"the operator {type(node.op).__name__} is not a part of rules")
        self.visit(node.left)
        self.visit(node.right)

    def sign(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.op, _SIGNS):
            raise self.refuse(node, "the operator ~ is not a part of rules")
        self.visit(node.operand)

    def conditional(self, node: ast.IfExp) -> None:
        self.each((node.test, node.body, node.orelse))

    def call(self, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            called = ast.unparse(node.func)
            raise self.refuse(node, f"{called} is not a function that rules have")
        name, arguments = node.func.id, node.args
        if node.keywords:
            raise self.refuse(node, f"{name} takes no keywords in rules")
        if name in _AT_LEAST_TWO and len(arguments) == 1 and isinstance(arguments[0], _DISPLAYS):
            arguments = arguments[0].elts
        elif len(arguments) != 1 and name not in _AT_LEAST_TWO:
            raise self.refuse(node, f"{name} takes one value, not {len(arguments)}")
        elif len(arguments) < 2 and name in _AT_LEAST_TWO:
            raise self.refuse(node, f"{name} takes two values or more, not {len(arguments)}")
        self.called.add(name)
        self.each(arguments)

    def each(self, nodes: Iterable[ast.expr]) -> None:
        for node in nodes:
            self.visit(node)


_VISITORS: Mapping[type[ast.expr], Callable[[_Reader, Any], None]] = {
    ast.Name: _Reader.name,
    ast.Constant: _Reader.constant,
    ast.Compare: _Reader.compare,
    ast.BoolOp: _Reader.logic,
    ast.BinOp: _Reader.arithmetic,
    ast.UnaryOp: _Reader.sign,
    ast.IfExp: _Reader.conditional,
    ast.Call: _Reader.call,
}
_SPOKEN: Mapping[type[ast.expr], str] = {
    ast.Attribute: "an attribute",
    ast.Subscript: "a subscript",
    ast.Lambda: "a lambda",
    ast.NamedExpr: "an assignment",
    ast.JoinedStr: "a formatted string",
    ast.Starred: "an unpacking",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Tuple: "a tuple outside `in`",
    ast.List: "a list outside `in`",
    ast.Set: "a set outside `in`",
    ast.Dict: "a mapping",
}
