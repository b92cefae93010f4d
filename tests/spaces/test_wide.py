"""Large spaces under wide rules: each is counted exactly, or estimated beyond the budget, and sampled rightly."""

from __future__ import annotations

import itertools
import math

import pytest
from text_spaces import space_of, upto

from winnow.errors import Incomplete, InputError
from winnow.spaces import Rule, TuningSpace, choices, rule


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


def divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


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
