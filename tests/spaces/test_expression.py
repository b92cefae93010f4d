"""Rules as text: if these fail, a rule of a data file means something else than Python says, or runs foreign code."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

from winnow.errors import InputError, Place
from winnow.spaces import Rule, TuningSpace, choices
from winnow.spaces.rules.expression import parse

POINTS = [dict(zip("abcm", values, strict=True)) for values in product((0, 1, 2, 3, 5), (-2, 1, 4), (0.5, 2), (7, 16))]
PYTHON = {"min": min, "max": max, "abs": abs, "ceil": math.ceil, "floor": math.floor, "log2": math.log2}


@pytest.mark.parametrize(
    "text",
    [
        "1 <= a < 3",
        "a < b < c < m",
        "a == b != c",
        "((a + (b * (m - 1))) % 3) == 1",
        "not (a and (b or c))",
        "not a == b",
        "a if b > 0 else c",
        "(a if b > 0 else m) > (1 if c < 1 else 2)",
        "a or b and c",
        "m // 2 ** a",
        "-a ** 2",
        "m / 3 * 3 == m",
        "-7 // m + -7 % m",
        "a in (1, 2, b) or a not in [5, m]",
        "a in {0, 5}",
        "min(a, b, c) + max(a, 3) - abs(b)",
        "max([a, b])",
        "ceil(m / 3) + floor(c) + log2(m)",
        "+a - -b",
        "True and a",
        "'x' == 'x' and a != None",
        "(a\n  + b) > 0",
        "a > 1  # a note",
        "1e3 > a * 0.5",
    ],
)
def test_every_expression_gives_what_python_gives(text: str) -> None:
    expression = parse(text, names="abcm")
    for point in POINTS:
        assert repr(expression.evaluate(point)) == repr(eval(f"(\n{text}\n)", dict(PYTHON), dict(point)))
    assert str(expression) == text


def test_reads_come_in_order_of_first_appearance_and_functions_are_none() -> None:
    assert parse("min(c, a) > b and a in (b, m)").reads == ("c", "a", "b", "m")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a.real > 1", "at column 1: an attribute is not a part of rules"),
        ("a[0] == 1", "at column 1: a subscript is not a part of rules"),
        ("(lambda: 1)()", "at column 1: lambda: 1 is not a function that rules have"),
        ("open('f')", "at column 1: open is not a function that rules have"),
        ("a.bit_length()", "at column 1: a.bit_length is not a function that rules have"),
        ("__import__('os')", "at column 1: __import__ is not a function that rules have"),
        (
            "__builtins__ == 1",
            'at column 1: "__builtins__": names with two leading underscores are not a part of rules',
        ),
        ("[x for x in (1, 2)] == 1", "at column 1: a comprehension is not a part of rules"),
        ("(a := 1) > 0", "at column 2: an assignment is not a part of rules"),
        ("a is None", "at column 6: `is` is not a part of rules: compare with =="),
        ("a & b == 1", "at column 1: the operator BitAnd is not a part of rules"),
        ("~a", "at column 1: the operator ~ is not a part of rules"),
        ("f'{a}' == '1'", "at column 1: a formatted string is not a part of rules"),
        ("(a, b) == (1, 2)", "at column 1: a tuple outside `in` is not a part of rules"),
        ("b'x' == a", "at column 1: b'x' is not a part of rules"),
        ("1j == a", "at column 1: 1j is not a part of rules"),
        ("min(a)", "at column 1: min takes two values or more, not 1"),
        ("abs(a, b)", "at column 1: abs takes one value, not 2"),
        ("min(a, b, key=c)", "at column 1: min takes no keywords in rules"),
        ("max(*a)", "at column 1: max takes two values or more, not 1"),
    ],
)
def test_whatever_is_not_a_rule_is_refused_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, place=Place("space.json", 7, "constraints[0]"))
    head, cure = str(caught.value).split("\n  cure: ")
    assert head == f'space.json:7: constraints[0]: "{text}" {reason}'
    assert cure.startswith("rules may use numbers, strings, names, + - * / // % **, comparisons, in, and, or, not")


@pytest.mark.parametrize("text", ["a >", "a = 1", "import os", "a b", "1 if a", "(a", "a\x00"])
def test_what_is_no_expression_at_all_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not an expression: ") as caught:
        parse(text, place=Place("space.json", 7))
    assert str(caught.value).startswith(f'space.json:7: "{text}"')


def test_an_empty_rule_is_refused() -> None:
    with pytest.raises(InputError, match='"  ": not an expression: it is empty'):
        parse("  ")


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        parse("block_m % tile_n == 0", names={"block_m": 1, "tile_m": 1})
    assert str(caught.value) == (
        '"block_m % tile_n == 0" at column 11: unknown name "tile_n"\n  cure: did you mean "tile_m"?'
    )


def test_a_knob_with_a_functions_name_cannot_be_called() -> None:
    with pytest.raises(InputError, match='"min" is a knob or a field here, so it cannot be called'):
        parse("min(a, 2) > 1", names=("min", "a"))
    assert parse("min > 1", names=("min", "a")).evaluate({"min": 2}) is True


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "a" + ")" * 5000,
        "not " * 100_000 + "a",
        "-" * 100_000 + "a",
        "(" * 250 + "a" + ")" * 250,
        "(a + " * 250 + "a" + ")" * 250,
        " + ".join(["a"] * 202),
        " * ".join(["a"] * 3000) + " > 'x'",
    ],
)
def test_a_text_that_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, names="a", place=Place("space.json", 7))
    shown = text if len(text) <= 200 else text[:197] + "..."
    assert str(caught.value) == (
        f'space.json:7: "{shown}": nested more than 200 levels deep\n'
        "  cure: split the rule, or group a long sum or product: (a + b) + (c + d)"
    )


@pytest.mark.parametrize(
    "text", [" + ".join(["a * b"] * 198) + " > 0", "(" * 190 + "a % b" + " + 1)" * 190 + " > 0", "not " * 198 + "a > b"]
)
@pytest.mark.parametrize("values", [range(1, 4), range(1, 700)])
def test_the_deepest_rules_and_long_flat_ones_are_counted(text: str, values: range) -> None:
    space = TuningSpace((choices("a", values), choices("b", values)), (Rule.from_expression(text, names="ab"),))
    expected = len(values) * (len(values) - 1) // 2 if "not" in text else len(values) ** 2
    assert space.count() == expected
    flat = parse(" or ".join(["a > b"] * 1000), names="ab")
    assert flat.evaluate({"a": 2, "b": 1}) is True


def test_a_power_without_end_is_an_error_and_not_a_hang() -> None:
    space = TuningSpace((choices("a", [9]),), (Rule.from_expression("a ** a ** a ** a > 1"),))
    with pytest.raises(InputError, match=r"OverflowError: 9 \*\* 387420489 is too large"):
        space.count()
    assert parse("2 ** 64 > a").evaluate({"a": 1}) is True


@pytest.mark.parametrize("text", ["a * 1000000000", "b % 7", "a + 'x'", "a + a"])
def test_arithmetic_over_text_is_refused_however_a_rule_is_asked(text: str) -> None:
    values = {"a": "x" * 1000, "b": "%0999999999d"}
    with pytest.raises(TypeError, match=r"is arithmetic over text$") as caught:
        parse(text).evaluate(values)
    assert len(str(caught.value)) < 120
    made = Rule.from_expression(text)
    with pytest.raises(TypeError, match="is arithmetic over text"):
        made(*[values[name] for name in made.reads])


def test_evaluation_needs_every_name() -> None:
    with pytest.raises(KeyError, match="b"):
        parse("a + b").evaluate({"a": 1})


def evaluated(text: str, **values: Any) -> Any:
    return parse(text).evaluate(values)


def test_text_values_compare_as_python_compares_them() -> None:
    assert evaluated("dtype in ('fp16', 'bf16') and layout != 'row'", dtype="bf16", layout="col") is True
    with pytest.raises(TypeError):
        evaluated("dtype < 3", dtype="bf16")
