"""Exact answers: if these fail, Winnow gives an integrator a wrong number of variants, or draws unfair samples."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_spaces import space_of

from winnow.errors import InputError
from winnow.spaces import Rule, TuningSpace, choices

NAMES = ("a", "b", "c", "d", "e")


def filtered(params: dict[str, list[Any]], rules: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """The plain way: every point of the product, tried against every rule."""
    tests = [eval(f"lambda {', '.join(params)}: {text}", {"min": min, "max": max}) for text in rules]
    return [point for point in product(*params.values()) if all(test(*point) for test in tests)]


atoms = st.sampled_from([*NAMES, "1", "2", "3", "5"])
terms = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner),
        st.builds("({} // (abs({}) + 1))".format, inner, inner),
        st.builds("max({}, {})".format, inner, inner),
        st.builds("({} if {} > 2 else {})".format, inner, inner, inner),
    ),
    max_leaves=4,
)
comparisons = st.one_of(
    st.builds("{} {} {}".format, terms, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), terms),
    st.builds("{} % {} == 0".format, terms, st.sampled_from(["1", "2", "3", "4"])),
    st.builds("{} <= {} < {}".format, terms, terms, terms),
    st.builds("{} in (1, 2, {})".format, terms, terms),
)
rules_text = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds("({}) or ({})".format, inner, inner),
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=3,
)
domains = st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True)
definitions = st.tuples(
    st.fixed_dictionaries(dict.fromkeys(NAMES, domains)), st.lists(rules_text, max_size=4, unique=True)
)


@settings(max_examples=150, deadline=None)
@given(definitions)
def test_count_list_ranks_membership_and_marginals_equal_the_plain_filter(definition: Any) -> None:
    params, rules = definition
    space, truth = space_of(params, *rules), filtered(params, tuple(rules))
    listed = list(space.tuples())
    assert space.count() == len(truth)
    assert Counter(listed) == Counter(truth)
    assert [space.point(rank) for rank in range(space.count())] == list(space.enumerate())
    assert [tuple(point.values()) for point in space.enumerate()] == listed
    for point in product(*params.values()):
        assert space.contains(dict(zip(params, point, strict=True))) == (point in set(truth))
    for i, (name, options) in enumerate(params.items()):
        assert space.marginals()[name] == {o: sum(point[i] == o for point in truth) for o in options}


@settings(max_examples=60, deadline=None)
@given(definitions)
def test_function_rules_and_expression_rules_agree(definition: Any) -> None:
    params, rules = definition
    functions = []
    for i, text in enumerate(rules):
        expression = Rule.from_expression(text)
        body = eval(f"lambda {', '.join(expression.reads)}: {text}", {"min": min, "max": max})
        functions.append(Rule(f"rule_{i}", text, expression.reads, body))
    by_function = TuningSpace(tuple(choices(n, o) for n, o in params.items()), tuple(functions))
    assert list(by_function.tuples()) == list(space_of(params, *rules).tuples())


@settings(max_examples=40, deadline=None)
@given(definitions)
def test_neighbours_are_the_valid_points_one_axis_away(definition: Any) -> None:
    params, rules = definition
    truth = filtered(params, tuple(rules))
    if not truth:
        return
    origin = truth[len(truth) // 2]
    near = space_of(params, *rules).neighbours(dict(zip(params, origin, strict=True)))
    expected = [p for p in truth if sum(x != y for x, y in zip(p, origin, strict=True)) == 1]
    assert Counter(tuple(p.values()) for p in near) == Counter(expected)


def test_samples_are_uniform() -> None:
    """Chi-square over all points of a space in which a tree walk with equal branch chances would be biased."""
    space = space_of({"a": [1, 2, 3, 4], "b": list(range(1, 13)), "c": [0, 1]}, "b % a == 0", "c == 0 or b > 8")
    points, draws = space.count(), 200
    drawn = Counter(tuple(p.values()) for p in space.sample(points * draws, seed=7))
    assert len(drawn) == points
    chi_square = sum((n - draws) ** 2 / draws for n in drawn.values())
    freedom = points - 1
    assert abs(chi_square - freedom) < 4 * math.sqrt(2 * freedom)


def test_samples_repeat_for_a_seed_and_differ_between_seeds() -> None:
    space = space_of({"a": list(range(50)), "b": list(range(50))}, "a < b")
    assert space.sample(20, seed=3) == space.sample(20, seed=3)
    assert space.sample(20, seed=3) != space.sample(20, seed=4)


def test_an_empty_space_cannot_be_sampled() -> None:
    space = space_of({"a": [1, 2]}, "a > 2")
    assert (space.count(), list(space.enumerate()), space.marginals()) == (0, [], {"a": {1: 0, 2: 0}})
    assert space.sample(0, seed=1) == []
    with pytest.raises(InputError) as caught:
        space.sample(1, seed=1)
    assert str(caught.value) == "the space has no valid point to sample from"


def test_two_huge_ranges_count_at_once() -> None:
    space = TuningSpace((choices("a", range(100_000)), choices("b", range(100_000))))
    assert space.count() == 10**10
    assert space.point(10**10 - 1) == {"a": 99_999, "b": 99_999}


def test_counts_are_exact_beyond_machine_integers() -> None:
    space = space_of({f"k{i}": list(range(10)) for i in range(40)}, "k0 <= k1", "k38 != k39")
    assert space.count() == 55 * 90 * 10**36
    assert space.contains(space.point(55 * 90 * 10**36 - 1))


def test_a_space_without_axes_has_one_point() -> None:
    assert list(TuningSpace(()).enumerate()) == [{}]
    nothing = TuningSpace((), (Rule.from_expression("m > 8"),), {"m": 8})
    assert (nothing.count(), list(nothing.enumerate()), nothing.order) == (0, [], ())


def test_values_of_every_scalar_type_are_kept_as_they_are() -> None:
    params: dict[str, list[Any]] = {"x": [0.5, 1.5, -2], "dtype": ["fp16", "fp32"], "on": [True, False], "n": [None, 3]}
    rules = ("x * 2 == 1 or dtype == 'fp32'", "not on or x > 0", "n != 3 or dtype in ('fp16',)")
    assert Counter(space_of(params, *rules).tuples()) == Counter(filtered(params, rules))


def test_neighbours_of_what_is_no_point_are_refused() -> None:
    space = space_of({"a": [1, 2]}, "a == 1")
    with pytest.raises(InputError, match='not a point of the space: rule "a == 1" refuses a=2'):
        space.neighbours({"a": 2})


def test_the_example_of_the_documentation_says_what_it_gives() -> None:
    text = (Path(__file__).parents[2] / "docs" / "spaces.md").read_text()
    names: dict[str, Any] = {}
    exec(text.split("```python\n")[1].split("```")[0], names)
    space = names["space"]
    assert f"space.count()                       # {space.count()}\n" in text
    assert f'space.marginals()["stages"]         # {space.marginals()["stages"]}\n' in text
