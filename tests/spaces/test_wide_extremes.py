"""Rules over many axes by max and min and products beyond 64 bits must be counted exactly."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from winnow.spaces import Rule, TuningSpace, choices


def space(axes: int, values: tuple[int, ...], *rules: str) -> TuningSpace:
    names = [f"x{i}" for i in range(axes)]
    listed = ", ".join(names)
    return TuningSpace(
        tuple(choices(name, values) for name in names),
        tuple(Rule.from_expression(rule.replace("ALL", listed), name=f"r{i}") for i, rule in enumerate(rules)),
    )


def test_extremes_over_twenty_axes_have_their_closed_form():
    assert space(20, tuple(range(8)), "max(ALL) <= 6", "min(ALL) >= 1").count() == 6**20
    assert space(20, tuple(range(8)), "max(ALL) == 6").count() == 7**20 - 6**20


@pytest.mark.parametrize(
    "rule",
    [
        "max(x0, x1, x2, x3, x4, x5, x6, x7) * 2 + x8 <= 9",
        "max(ALL) - min(ALL) == 3",
        "min(x0 * 2, x1, x2 + 1, x3, x4, x5, x6, x7, x8) % 2 == 0",
    ],
)
def test_extremes_inside_arithmetic_equal_the_product_filter(rule: str):
    values = (0, 1, 3, 4)
    grid = np.stack(np.meshgrid(*[values] * 9, indexing="ij")).reshape(9, -1)
    names = {f"x{i}": grid[i] for i in range(9)}
    listed = ", ".join(names)

    def extreme(reduce):
        return lambda *parts: reduce(np.stack(np.broadcast_arrays(*parts)), axis=0)

    scope = {**names, "max": extreme(np.max), "min": extreme(np.min)}
    expected = int(np.sum(eval(rule.replace("ALL", listed), scope)))
    assert space(9, values, rule).count() == expected


def test_products_beyond_64_bits_are_counted_exactly_and_warn_nobody():
    wide = space(24, (1, 2, 4, 8), " * ".join(f"x{i}" for i in range(24)) + " == 2**36")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wide.count() == _coefficient(24, 36)


def _coefficient(factors: int, power: int) -> int:
    """The coefficient of x to that power in (1 + x + x² + x³) to the power of `factors`."""
    product = np.array([1], dtype=object)
    for _ in range(factors):
        product = np.convolve(product, np.array([1, 1, 1, 1], dtype=object))
    return int(product[power])
