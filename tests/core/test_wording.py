"""Counts must read as a person would say them."""

from __future__ import annotations

import pytest

from winnow.wording import amount


@pytest.mark.parametrize(
    ("number", "things", "said"),
    [
        (0, "kernels", "0 kernels"),
        (1, "reduced catalogs", "1 reduced catalog"),
        (2, "graphs", "2 graphs"),
        (1, "launches", "1 launch"),
        (1, "times", "1 time"),
        (12_345, "legal variants", "12,345 legal variants"),
    ],
)
def test_one_thing_is_no_plural(number: int, things: str, said: str):
    assert amount(number, things) == said
