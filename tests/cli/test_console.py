"""What a person sees of a command's work: how far it is, how long the rest takes, and tables that fit the terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from winnow.cli.console import Pace, Progress, seconds, table


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


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_off_a_terminal_long_work_says_a_line_every_ten_seconds(capfd: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with Progress("pack", clock=clock) as progress:
        for clock.now in range(1, 31):
            progress(int(clock.now), 2000, f"unit {int(clock.now)} ")
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "pack: 10 of 2,000, 33 min 10 s left, unit 10",
        "pack: 20 of 2,000, 33 min 00 s left, unit 20",
        "pack: 30 of 2,000, 32 min 50 s left, unit 30",
    ]


def test_off_a_terminal_short_work_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with Progress("check", clock=clock) as progress:
        clock.now = 9.9
        progress(1, 2)
        progress(2, 2, left=0.0)
    assert capfd.readouterr() == ("", "")


def test_a_time_left_that_is_known_is_shown_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    progress = Progress("sweep", clock=clock)
    clock.now = 10.0
    progress(0, 4)
    clock.now = 20.0
    progress(1, 4, left=7.0)
    progress.finish()
    assert capfd.readouterr().err == "sweep: 0 of 4\nsweep: 1 of 4, 7.0 s left\n"


WORK = """
import sys
from winnow.cli.console import Progress
with Progress("pack") as progress:
    for done in range(4):
        progress(done, 4, "[note]")
print("end", file=sys.stderr)
"""


def on_a_terminal(**environment: str) -> str:
    """What a terminal gets on stderr."""
    main, side = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    with subprocess.Popen(
        [sys.executable, "-c", WORK], stderr=side, stdin=side, env={"TERM": "xterm", **variables, **environment}
    ) as running:
        os.close(side)
        seen = b""
        try:
            while part := os.read(main, 4096):
                seen += part
        except OSError:  # the other side is closed
            pass
        os.close(main)
    assert running.returncode == 0
    return seen.decode()


COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")


def test_on_a_terminal_a_bar_is_drawn_and_taken_away() -> None:
    seen = on_a_terminal()
    assert "pack" in seen
    assert "[note]" in seen
    assert COLOUR.search(seen)
    assert seen.endswith("end\r\n")


def test_no_color_is_respected() -> None:
    seen = on_a_terminal(NO_COLOR="1")
    assert "pack" in seen
    assert not COLOUR.search(seen)


def test_a_terminal_that_cannot_redraw_gets_no_bar() -> None:
    assert on_a_terminal(TERM="dumb") == "end\r\n"


def test_a_table_aligns_words_left_and_numbers_right() -> None:
    assert table([("a", 1), ("bcd", 1234)]) == "  a        1\n  bcd  1,234"
    assert table([("x", 0.123456)], indent=0) == "x  0.1235"


def test_a_table_that_is_too_wide_wraps_its_longest_cells_and_loses_nothing() -> None:
    cell = "dtype=fp32, n=4096, k=4096, [bold]layout[/]=row"
    wide = table([("x86-64-v4", cell, 418812), ("x86-64-v2", "all", 7)], width=40)
    assert wide.splitlines() == [
        "  x86-64-v4  dtype=fp32,         418,812",
        "             n=4096, k=4096,",
        "             [bold]layout[/]=ro",
        "             w",
        "  x86-64-v2  all                       7",
    ]
    assert table([("x", cell, 1)]) == f"  x  {cell}  1", "a pipe gets one line a row"


def test_a_duration_is_in_seconds_then_in_minutes() -> None:
    assert [seconds(value) for value in (0.04, 89.94, 90.0, 3725.0)] == ["0.0 s", "89.9 s", "1 min 30 s", "62 min 05 s"]
