"""A solver that is not exact keeps kernels that nobody needs, or loses graphs that somebody runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.reduce.solve import Choice, Infeasible, best_of_sizes, best_under, fewest, smallest_size

STEPS = [0.0, 0.0, 0.01, 0.02, 0.05, 0.3, 1.0, np.inf, np.inf]


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    """Small matrices with many ties, gaps, forced kernels and groups."""
    graphs, kernels = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    table = np.array([[draw(st.sampled_from(STEPS)) for _ in range(kernels)] for _ in range(graphs)])
    for row in table:
        row[draw(st.integers(0, kernels - 1))] = 0.0
    forced = draw(st.frozensets(st.integers(0, kernels - 1), max_size=2))
    groups = draw(st.lists(st.frozensets(st.integers(0, kernels - 1), min_size=1), max_size=2))
    newcomers = [draw(st.integers(0, 1)) for _ in range(kernels)]
    limits = np.array([draw(st.sampled_from([0.0, 0.015, 0.06])) for _ in range(graphs)])
    tie = draw(st.sampled_from([0.0, 0.005, 0.1]))
    return Choice(table, limits, forced, tuple(groups), (newcomers, range(kernels)), tie)


def sets(choice: Choice, sizes: range, within: bool) -> list[tuple[int, ...]]:
    """Every set that does what is asked, by trying them all."""
    kernels = range(choice.costs.shape[1])
    reach = choice.limits if within else np.full(len(choice.costs), 1e9)
    return [
        kept
        for size in sizes
        for kept in itertools.combinations(kernels, size)
        if choice.forced <= set(kept)
        and all(group & set(kept) for group in choice.groups)
        and (choice.costs[:, list(kept)].min(axis=1, initial=np.inf) <= reach).all()
    ]


def preferred(choice: Choice, allowed: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The order of preference, spelled out: cost up to the tie, then size, then the weights."""
    least = min(map(choice.total, allowed))
    allowed = [kept for kept in allowed if choice.total(kept) <= least + choice.tie * len(choice.costs) + 1e-7]
    return min(allowed, key=lambda kept: (len(kept), *(sum(w[k] for k in kept) for w in choice.weights)))


def value(choice: Choice, kept: tuple[int, ...]) -> list[int]:
    return [len(kept), *(sum(w[k] for k in kept) for w in choice.weights)]


@settings(max_examples=150, deadline=None)
@given(choices())
def test_fewest_equals_brute_force(choice):
    kernels = choice.costs.shape[1]
    allowed = sets(choice, range(kernels + 1), within=True)
    smallest = min(map(len, allowed))
    expected = preferred(choice, [kept for kept in allowed if len(kept) == smallest])
    found = fewest(choice)
    assert found in allowed
    assert value(choice, found) == value(choice, expected)


@settings(max_examples=150, deadline=None)
@given(choices(), st.integers(1, 5))
def test_best_under_a_budget_equals_brute_force(choice, size):
    allowed = sets(choice, range(size + 1), within=False)
    if not allowed:
        for solve in (best_under, lambda choice, size: list(best_of_sizes(choice, [size]))):
            with pytest.raises(Infeasible):
                solve(choice, size)
        return
    found = best_under(choice, size)
    assert found in allowed
    assert value(choice, found) == value(choice, preferred(choice, allowed))
    found, again = best_of_sizes(choice, [size, 8])
    assert found in allowed
    assert choice.total(found) == pytest.approx(min(map(choice.total, allowed)), abs=1e-6)
    assert choice.total(again) <= choice.total(found) + 1e-6, "a limit of one size does not stay for the next"


@settings(max_examples=60, deadline=None)
@given(choices())
def test_smallest_size_equals_brute_force(choice):
    allowed = sets(choice, range(choice.costs.shape[1] + 1), within=False)
    assert smallest_size(choice) == min(map(len, allowed))


def test_a_graph_that_nothing_serves_is_infeasible():
    nothing = Choice(np.array([[np.inf]]), np.zeros(1), frozenset(), (), (), 0.0)
    for solve in (fewest, smallest_size, lambda choice: best_under(choice, 1)):
        with pytest.raises(Infeasible):
            solve(nothing)


def test_a_large_table_is_solved_exactly_where_greedy_is_not():
    """Greedy cover takes the big middle set first and then needs three; two suffice."""
    costs = np.full((12, 3), np.inf)
    costs[:6, 0] = costs[6:, 1] = 0.0
    costs[2:10, 2] = 0.0
    assert fewest(Choice(costs, np.zeros(12), frozenset(), (), (range(3),), 0.0)) == (0, 1)
