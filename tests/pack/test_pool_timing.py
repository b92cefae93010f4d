"""How long a compilation may take follows from those before it, and what was granted is reported."""

from __future__ import annotations

from typing import Any

from pack_samples import SAMPLE_COMPILER, SampleSource, SampleToolchain

from winnow.pack.worker import PROGRAM, Job
from winnow.workers.pool import TIMEOUT_SECONDS, run_jobs


def jobs(count: int) -> list[Job]:
    return [Job(SAMPLE_COMPILER, SampleToolchain(), SampleSource(f"s{i}", f"text {i}", ()), "t") for i in range(count)]


def test_a_few_compilations_say_nothing_about_the_next() -> None:
    done: dict[int, Any] = {}
    timing = run_jobs(PROGRAM, jobs(3), workers=2, done=done.__setitem__)
    assert (len(done), timing.limit_s) == (3, TIMEOUT_SECONDS)
    assert 0 < timing.slowest_s <= timing.total_s


def test_many_quick_ones_shorten_the_limit_to_two_minutes_and_no_further() -> None:
    assert run_jobs(PROGRAM, jobs(9), workers=1, done=lambda *_: None).limit_s == 120.0
    assert run_jobs(PROGRAM, jobs(9), workers=1, done=lambda *_: None, timeout_s=30.0).limit_s == 30.0
