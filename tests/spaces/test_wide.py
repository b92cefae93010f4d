"""The ways for wide rules and large diagrams: if these fail, big spaces are counted wrongly and small ones are not."""

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

from winnow.errors import Incomplete, InputError
from winnow.spaces import Rule, TuningSpace, choices, rule
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


def space_of(params: dict[str, Any], *rules: str, **options: Any) -> TuningSpace:
    return TuningSpace(
        tuple(choices(name, values) for name, values in params.items()),
        tuple(Rule.from_expression(text, name=f"r{i}") for i, text in enumerate(rules)),
        **options,
    )


def upto(n: int) -> range:
    return range(1, n + 1)


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


def test_products_beyond_64_bits_are_counted_exactly() -> None:
    large = [i * i * 1_000_003 + 7 for i in range(80)]
    for text, holds in (
        ("a * b * c <= 2 ** 90", lambda a, b, c: a * b * c <= 2**90),
        ("a * b - c * 10 ** 10 > 2 ** 64", lambda a, b, c: a * b - c * 10**10 > 2**64),
        ("(a * b * c) % 1000003 == 343", lambda a, b, c: a * b * c % 1_000_003 == 343),
        ("max(a * b * 10 ** 9, c) * 3 == 3 * c", lambda a, b, c: max(a * b * 10**9, c) == c),
        ("a * c * 2 ** 70 == b * c * 2 ** 70", lambda a, b, c: a == b),
    ):
        space = space_of(dict.fromkeys("abc", large), text)
        assert space.count() == sum(holds(*point) for point in itertools.product(large, repeat=3)), text


def test_python_integers_have_a_budget() -> None:
    columns = {f"x{i}": [3**40 + i, 5**30 + i, 7**28 - i] for i in range(16)}
    space = space_of(columns, " * ".join(columns) + " <= 7 ** 400", budget=1 << 18)
    with pytest.raises(Incomplete, match="an exact answer is beyond the budget"):
        space.count()
    assert not space.size(draws=50).exact


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


def divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


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


def test_a_product_of_three_large_ranges_is_counted_exactly() -> None:
    limit = 100_000
    by_hand = sum(limit // (a * b) for a in upto(4096) for b in upto(min(4096, limit // a)) if limit // (a * b) <= 4096)
    by_hand += sum(4096 for a in upto(24) for b in upto(24 // a) if limit // (a * b) > 4096)
    space = space_of({"a": upto(4096), "b": upto(4096), "c": upto(4096)}, f"a * b * c <= {limit}")
    assert space.count() == by_hand
    assert all(p["a"] * p["b"] * p["c"] <= limit for p in space.sample(50, seed=1))


def test_a_sum_over_twelve_axes_is_counted_exactly() -> None:
    ways = {0: 1}
    for _ in range(12):
        ways = {total: sum(ways.get(total - v, 0) for v in upto(8)) for total in range(97)}
    knobs = [f"x{i}" for i in range(12)]
    space = space_of(dict.fromkeys(knobs, upto(8)), " + ".join(knobs) + " <= 50")
    assert space.count() == sum(number for total, number in ways.items() if total <= 50)


@pytest.mark.parametrize("terms", [5, 14, 30])
def test_a_sum_of_products_is_counted_exactly_in_whatever_order_its_knobs_are_declared(terms: int) -> None:
    ways = {0: 1}
    for _ in range(terms):
        longer: dict[int, int] = {}
        for total, number in ways.items():
            for a, b in itertools.product((1, 2, 4, 8), repeat=2):
                longer[total + a * b] = longer.get(total + a * b, 0) + number
        ways = longer
    rule = " + ".join(f"a{i} * b{i}" for i in range(terms)) + " <= 100"
    space = space_of({f"{name}{i}": [1, 2, 4, 8] for name in "ab" for i in range(terms)}, rule)
    assert space.count() == sum(number for total, number in ways.items() if total <= 100)


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        (("x <= y",), 20_000 * 20_001 // 2),
        (("x % y == 0",), sum(20_000 // y for y in upto(20_000))),
        (("y % x == 0",), sum(20_000 // y for y in upto(20_000))),
        (("x * y == 5040",), len(divisors(5040))),
        (("x - y == 7",), 20_000 - 7),
        (("(x * y) % 7 == 0",), 20_000**2 - (20_000 - 20_000 // 7) ** 2),
        (("x <= y", "y < z"), math.comb(20_000, 2) + math.comb(20_000, 3)),
    ],
)
def test_rules_between_huge_ranges_are_counted_exactly(rules: tuple[str, ...], count: int) -> None:
    space = space_of(dict.fromkeys("xyz" if len(rules) == 2 else "xy", upto(20_000)), *rules)
    assert space.count() == count
    assert all(space.contains(point) for point in space.sample(20, seed=5))
    assert sum(space.marginals()["x"].values()) == count


def test_a_gaussian_with_full_ranges_equals_the_one_with_powers_of_two() -> None:
    """1e31 points: only powers of two divide 4096, so both definitions are one space."""
    names = [f"{name}{side}" for side in (0, 1) for name in ("L", "P", "W", "I")]
    rules = [
        text.replace("#", str(side))
        for side in (0, 1)
        for text in (
            "4096 % L# == 0",
            "L# % P# == 0",
            "(4096 / L#) % W# == 0",
            "(L# / P#) % I# == 0",
            "I# <= 4096 + W# - 1 / W#",
        )
    ]
    full = space_of(dict.fromkeys(names, upto(4096)), *rules)
    powers = space_of({name: [2**i for i in range(13)] for name in names}, *rules)
    assert full.cartesian > 10**28
    assert full.count() == powers.count() > 10**6


def test_a_wide_function_is_called_where_the_other_rules_leave_a_point_only() -> None:
    calls = 0

    @rule("nothing that a table could hold")
    def wide_rule(a: int, b: int, c: int, d: int) -> bool:
        nonlocal calls
        calls += 1
        return (a + b + c + d) % 2 == 0

    tied = tuple(Rule.from_expression(text) for text in ("a == b", "c == d"))
    space = TuningSpace(tuple(choices(name, range(60)) for name in "abcd"), (wide_rule, *tied))
    assert space.count() == 3600
    assert calls == 3600


def test_a_wide_function_that_raises_is_an_error_with_the_values() -> None:
    @rule("divides")
    def divides(a: int, b: int, c: int, d: int) -> bool:
        return a % (b - 17) == c % (d + 1)

    tied = tuple(Rule.from_expression(text) for text in ("a == b", "c == d"))
    axes = tuple(choices(name, range(60)) for name in "abcd")
    with pytest.raises(InputError, match=r"cannot be evaluated at a=17, b=17, c=\d+, d=\d+: ZeroDivisionError"):
        TuningSpace(axes, (divides, *tied)).count()
    assert TuningSpace(axes, (divides, *tied, Rule.from_expression("b != 17"))).count() > 0


def opaque_space(budget: int) -> TuningSpace:
    @rule("two in five, by no pattern that can be used")
    def two_in_five(a: int, b: int, c: int, d: int) -> bool:
        return (a * 7919 + b * 104_729 + c * 1299 + d * 31) % 10 in (3, 4, 5, 9)

    axes = tuple(choices(name, range(24)) for name in "abcd")
    return TuningSpace(axes, (two_in_five, Rule.from_expression("a <= b")), budget=budget)


def test_beyond_the_budget_a_count_is_an_estimate_and_says_so() -> None:
    exact, cheap = opaque_space(1 << 25), opaque_space(1 << 12)
    size = cheap.size()
    assert not size.exact
    assert size.low <= exact.count() <= size.high
    assert size.high - size.low < 0.05 * exact.count()
    assert str(size) == f"estimate {size.value:.4g} (95 % interval {size.low:.4g} to {size.high:.4g})"
    assert exact.size().exact
    assert str(exact.size()) == str(exact.count())
    for ask in (cheap.count, cheap.marginals, lambda: cheap.point(0)):
        with pytest.raises(Incomplete) as caught:
            ask()
        assert str(caught.value) == (
            "an exact answer is beyond the budget of 4096 steps: left out "
            'rule "two_in_five" (two in five, by no pattern that can be used)\n'
            "  cure: ask for an estimate (`size`), split the rule, or give the space a larger budget"
        )


def test_beyond_the_budget_samples_and_lists_stay_right() -> None:
    exact, cheap = opaque_space(1 << 25), opaque_space(1 << 12)
    assert all(exact.contains(point) for point in cheap.sample(100, seed=2))
    assert set(cheap.tuples()) == set(exact.tuples())
    assert cheap.contains(exact.point(7))


def guarded_space(budget: int, *, guarded: bool) -> TuningSpace:
    """A rule that divides by b, and a wide one, which is left out beyond the budget, that refuses every b of 0."""

    @rule("wide")
    def wide(a: int, b: int, c: int, d: int) -> bool:
        return (b != 0 or not guarded) and (a * 7919 + b * 104_729 + c * 1299 + d * 31) % 10 in (3, 4, 5, 9)

    @rule("divides")
    def divides(a: int, b: int) -> bool:
        return a % b != 1

    axes = tuple(choices(name, range(24)) for name in "abcd")
    return TuningSpace(axes, (wide, divides), budget=budget)


def test_what_a_rule_left_out_refuses_may_raise_in_another() -> None:
    exact, cheap = (guarded_space(budget, guarded=True) for budget in (1 << 25, 1 << 12))
    size = cheap.size()
    assert not size.exact
    assert size.low <= exact.count() <= size.high
    assert set(cheap.tuples()) == set(exact.tuples())
    raising = guarded_space(1 << 12, guarded=False)
    with pytest.raises(InputError, match=r'rule "divides" .*cannot be evaluated at a=\d+, b=0: ZeroDivisionError'):
        list(raising.tuples())


def test_a_sampler_that_finds_nothing_gives_up() -> None:
    @rule("never")
    def never(a: int, b: int, c: int) -> bool:
        return a + b + c < 0

    space = TuningSpace(tuple(choices(name, range(200)) for name in "abc"), (never,), budget=1 << 10)
    assert space.size(draws=100).low == 0
    with pytest.raises(Incomplete, match="only 0 of 1 points found: the rules left out refuse nearly every draw"):
        space.sample(1, seed=1)


def test_a_chain_deeper_than_the_interpreters_stack_is_counted_and_listed() -> None:
    knobs = [f"x{i}" for i in range(700)]
    rules = [f"{a} <= {b}" for a, b in itertools.pairwise(knobs)]
    space = space_of({knob: [0, 1] for knob in knobs}, *rules)
    assert space.count() == 701
    assert len(set(space.tuples())) == 701
