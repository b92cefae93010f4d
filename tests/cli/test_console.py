"""What a progress bar promises: the time that is left follows from the stage that is running, and from no other."""

from __future__ import annotations

from winnow.cli.console import Pace


def test_the_time_left_follows_the_pace_of_the_stage() -> None:
    pace = Pace(100.0)
    assert pace.left(0, 4, 100.0) is None
    assert pace.left(1, 4, 110.0) == 30.0
    assert pace.left(4, 4, 140.0) == 0.0


def test_a_new_stage_is_not_charged_with_the_one_before() -> None:
    pace = Pace(0.0)
    pace.left(50, 50, 500.0)
    assert pace.left(1, 44, 502.0) == 2.0 * 43
    assert pace.left(2, 44, 504.0) == 2.0 * 42
