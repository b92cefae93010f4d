"""Each way to evaluate a wide rule gives what Python gives, for numbers and for text."""

from __future__ import annotations

import ast
import itertools
import math
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_rules import NAMES, RandomRules
from text_spaces import space_of, upto

from winnow.errors import InputError
from winnow.spaces.diagram import automata, compilation, wide_automata
from winnow.spaces.diagram.array_automaton import explored
from winnow.spaces.diagram.automaton import Automaton, fold, tabulate
from winnow.spaces.rules import blocks
from winnow.spaces.rules.algebra import names_of
from winnow.spaces.rules.batch import Unsuitable
from winnow.spaces.rules.bounds import may_raise, truth_range, value_range
from winnow.spaces.rules.expression import parse
from winnow.spaces.rules.partial import partial

PYTHON = {"min": min, "max": max, "abs": abs, "ceil": math.ceil, "floor": math.floor, "log2": math.log2}


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        yield


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**32))
@example(2411)  # bounds of a power beyond what a float holds
def test_arrays_give_what_python_gives_or_decline(seed: int) -> None:
    draw = RandomRules(seed)
    expression = parse(draw.rule(3))
    columns = {name: draw.column() for name in expression.reads}
    sizes = [len(column) for column in columns.values()]
    inputs = [(at, column) for at, column in enumerate(columns.values())]
    if not sizes:
        return
    truth = tabulate(in_python(expression.text, expression.reads), inputs, sizes, False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_FEWEST_PER_BLOCK", 1)
        patch.setattr(blocks, "_BLOCK", 7)
        try:
            found = blocks.outcomes(expression.tree, dict(zip(columns, inputs, strict=True)), sizes)
        except Unsuitable:
            return
    assert found == truth


def test_arrays_do_not_decline_what_fits_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_FEWEST_PER_BLOCK", 1)
    expression = parse("a * b % 4 == 0 and a + b <= 40")
    columns = {"a": [1, 2, 3, 4], "b": [2, 4, 8, 64]}
    inputs = dict(zip(columns, enumerate(columns.values()), strict=True))
    truth = tabulate(in_python(expression.text, expression.reads), list(inputs.values()), [4, 4], False)
    assert blocks.outcomes(expression.tree, inputs, [4, 4]) == truth


def outcomes_of(automaton: Automaton, sizes: list[int]) -> bytes:
    """Follow the automaton for every setting of the scope."""
    found = []
    for taken in itertools.product(*map(range, sizes)):
        state = automaton.root
        for layer, choice in zip(automaton.layers, taken, strict=True):
            state = layer[state][choice]
        found.append(state)
    return bytes(found)


@pytest.mark.parametrize("large", [False, True])
@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**32))
def test_partial_results_give_the_smallest_automaton_of_the_rule(large: bool, seed: int) -> None:
    draw = RandomRules(seed, whole=True, large=large)
    expression = parse(draw.rule(3))
    columns = {name: draw.column() for name in expression.reads}
    order = list(columns)
    draw.draw.shuffle(order)
    sizes = [len(columns[name]) for name in order]
    inputs = {name: (order.index(name), column) for name, column in columns.items()}
    if len(order) < 2:
        return
    truth = tabulate(expression, list(inputs.values()), sizes, False)
    try:
        machine = partial(expression.tree, inputs, range(len(order)), sizes, 10**9)
    except Unsuitable:
        return
    found = explored(machine, sizes, 10**9)
    smallest = fold(tuple(range(len(order))), truth, sizes)
    assert outcomes_of(found, sizes) == truth
    assert [len(layer) for layer in found.layers] == [len(layer) for layer in smallest.layers]


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32))
def test_ranges_hold_every_value_also_beside_arrays_and_beyond_64_bits(seed: int) -> None:
    draw = RandomRules(seed, whole=True, large=seed % 2 > 0)
    tree = parse(draw.rule(3)).tree
    left = tree.left if isinstance(tree, ast.Compare) else tree
    for node in (tree, left):
        reads = sorted(names_of(node))
        columns = {name: draw.column() for name in reads}
        ranges: dict[str, Any] = {name: (min(values), max(values)) for name, values in columns.items()}
        if may_raise(node, ranges):
            return
        answers = {
            point: eval(compile(ast.Expression(node), "", "eval"), dict(PYTHON), dict(zip(reads, point, strict=True)))
            for point in itertools.product(*columns.values())
        }
        low, high = value_range(node, ranges)
        surely, possibly = truth_range(node, ranges)
        assert all(low <= answer <= high and surely <= bool(answer) <= possibly for answer in answers.values())
        for at, name in enumerate(reads):
            if all(abs(value) < 1 << 61 for value in columns[name]):
                array = np.array(columns[name])
                lows, highs = value_range(node, {**ranges, name: (array, array)})
                sure, may = truth_range(node, {**ranges, name: (array, array)})
                for point, answer in answers.items():
                    where = columns[name].index(point[at])
                    assert _at(lows, where) <= answer <= _at(highs, where)
                    assert _at(sure, where) <= bool(answer) <= _at(may, where)


def _at(ends: Any, place: int) -> Any:
    return ends.tolist()[place] if np.ndim(ends) else ends


def lane(patch: pytest.MonkeyPatch, name: str) -> None:
    """Send spaces of any size through one of the ways that only large ones would take."""
    patch.setattr(compilation, "_SMALL_DIAGRAM", 0)
    patch.setattr(blocks, "_FEWEST_PER_BLOCK", 1)
    patch.setattr(automata, "_WORTH_ARRAYS", 2)
    patch.setattr(automata, "_WORTH_SHRINKING", 1)
    patch.setattr(wide_automata, "_WORTH_PARTIAL", 2 if name == "partial" else 1 << 60)
    if name == "machines":
        tabulated = automata._tabulated
        patch.setattr(
            automata, "_automaton_of", lambda bound, scope, kept, _: None if scope else tabulated(bound, scope, kept)
        )


@pytest.mark.parametrize("name", ["partial", "arrays", "machines"])
@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32))
@example(6590)  # a divisor whose column is cleared where the rule already holds
def test_every_way_gives_the_plain_filter(name: str, seed: int) -> None:
    draw = RandomRules(seed, whole=seed % 3 > 0, large=seed % 3 > 1)
    params = {knob: draw.column()[:4] for knob in NAMES}
    rules = list(dict.fromkeys(draw.rule(2) for _ in range(draw.draw.randint(1, 4))))
    tests = [in_python(text, NAMES) for text in rules]
    valid, undecided = [], False
    for point in itertools.product(*params.values()):
        outcomes = [answer(test, point) for test in tests]
        if all(outcomes):
            valid.append(point)
        undecided = undecided or (None in outcomes and False not in outcomes)
    with pytest.MonkeyPatch.context() as patch:
        lane(patch, name)
        space = space_of(params, *rules)
        if undecided:
            with pytest.raises(InputError, match="cannot be evaluated at"):
                space.count()
            return
        listed = list(space.tuples())
        assert space.count() == len(valid)
        assert sorted(map(repr, listed)) == sorted(map(repr, valid))
        assert [tuple(space.point(rank).values()) for rank in range(len(valid))] == listed
        for i, (knob, values) in enumerate(params.items()):
            assert space.marginals()[knob] == {value: sum(p[i] == value for p in valid) for value in values}


class Text(str):
    """Text with which nothing can be calculated."""

    def _refused(self, other: object) -> None:
        raise TypeError("arithmetic over text")

    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _refused  # type: ignore[assignment]


def in_python(text: str, names: Iterable[str]) -> Any:
    """A rule as Python has it, but for arithmetic over text, which raises."""
    guarded = re.sub("'[^']*'", r"Text(\g<0>)", text)
    function = eval(f"lambda {', '.join(names)}: {guarded}", {**PYTHON, "Text": Text})
    return lambda *values: function(*[Text(value) if isinstance(value, str) else value for value in values])


def answer(test: Any, point: tuple[Any, ...]) -> bool | None:
    try:
        return bool(test(*point))
    except (ArithmeticError, TypeError, ValueError):
        return None


TEXTS = ["fp16", "%0999999999d", "row"]


@pytest.mark.parametrize("name", ["narrow", "partial", "arrays", "machines"])
@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("a * 100000000000 != b", "'fp16' * 100000000000"),
        ("b == 100000000000 * a", "100000000000 * 'fp16'"),
        ("'%0999999999d' % b != a", "'%0999999999d' % 1"),
        ("(a or 'x') + 'y' == 'fp16y' or b > 1", "'fp16' + 'y'"),
        ("max(a, 'row') * b != 'row' or b > 1", "'row' * 1"),
        ("(a if b < 9 else 1) - 1 != b", "'fp16' - 1"),
        ("a ** 2 > b", "'fp16' ** 2"),
    ],
)
def test_arithmetic_over_text_is_an_error_in_every_way_and_never_a_hang(name: str, rule: str, shown: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if name != "narrow":
            lane(patch, name)
        space = space_of({"a": TEXTS, "b": upto(4), "c": upto(4)}, f"({rule}) and c > 0")
        with pytest.raises(InputError) as caught:
            space.count()
    head, cure = str(caught.value).split("\n  cure: ")
    assert head.endswith(f"TextArithmetic: {shown} is arithmetic over text")
    assert cure == "compare text with ==, != or `in`; arithmetic in rules is for numbers"


def test_text_is_compared_in_rules_and_guards_arithmetic() -> None:
    space = space_of(
        {"a": [*TEXTS, 8], "b": upto(4)},
        "a in ('fp16', 8) and 'p' in ('p' if a == 8 else a) and a != 'row'",
        "a == 'fp16' or a * b > 16",
        "min('fp16', 'row') <= ('fp16' if b > 1 else 'row')",
    )
    assert set(space.tuples()) == {*(("fp16", b) for b in upto(4)), (8, 3), (8, 4)}
