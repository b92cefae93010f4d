"""What a round's launches come to must be what the policy says, and policies must not mix."""

from __future__ import annotations

import pytest

from winnow.settings.sweep import Sweep
from winnow.sweep.policy import policy_of


@pytest.mark.parametrize(("statistic", "time"), [("median", 30), ("minimum", 10)])
def test_a_round_is_its_median_or_its_minimum(statistic: str, time: float):
    assert policy_of(Sweep(statistic=statistic)).time_of([50, 10, 30]) == time


def test_the_statistic_is_part_of_the_policys_identity():
    assert policy_of(Sweep(statistic="minimum")).as_dict() != policy_of(Sweep()).as_dict()
