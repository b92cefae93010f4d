"""A kernel that breaks its compiler must cost that kernel, say why, and give the same answer for any number of jobs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from pack_samples import SAMPLE_COMPILER, SampleSource, SampleToolchain

from winnow.compilers.code_object import CodeObject
from winnow.errors import InputError
from winnow.pack.worker import PROGRAM, Job
from winnow.workers.pool import JobFailed, default_jobs, run_jobs


def job(text: str) -> Job:
    return Job(SAMPLE_COMPILER, SampleToolchain(), SampleSource("k", text, ("a",)), "x86-64-v3")


def run(texts: list[str], workers: int = 2, timeout_s: float = 60.0) -> dict[int, CodeObject]:
    done: dict[int, CodeObject] = {}
    run_jobs(PROGRAM, [job(text) for text in texts], workers=workers, done=done.__setitem__, timeout_s=timeout_s)
    return done


def failure(texts: list[str], workers: int = 2, timeout_s: float = 60.0) -> JobFailed:
    with pytest.raises(JobFailed) as error:
        run(texts, workers, timeout_s)
    return error.value


def test_any_number_of_workers_gives_the_same_objects() -> None:
    texts = [f"fp32 {i}" for i in range(7)]
    one, many = run(texts, 1), run(texts, 3)
    assert list(one) == list(range(7))
    assert one == {i: many[i] for i in range(7)}
    assert run([], 2) == {}


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_failure_reported_is_the_first_in_order_and_not_in_time(workers: int) -> None:
    failed = failure(["ok", "slow 0.2", "fail first", "fail second", "ok"], workers)
    assert (failed.index, failed.failure.reason) == (2, "error: first")
    assert failed.failure.detail == "sample.c:1: error: first"


def test_a_slow_failure_before_a_quick_one_is_the_one_reported() -> None:
    # The first job takes down two processes before it counts as failed, so the second's failure comes sooner.
    failed = failure(["die", "fail quick"])
    assert failed.index == 0
    assert failed.failure.reason == (
        "its worker died 2 times; the last died of SIGKILL (the system ends a process so when memory runs out)"
    )
    assert failed.failure.killed_by == signal.SIGKILL


def test_a_worker_that_dies_costs_one_retry_of_its_job(tmp_path: Path) -> None:
    flag = tmp_path / "died"
    done = run(["ok", f"die-once {flag}", "ok"])
    assert sorted(done) == [0, 1, 2]
    assert flag.exists()


def test_an_exception_in_a_compiler_is_that_jobs_failure() -> None:
    failed = failure(["ok", "raise out of luck"], 1)
    assert (failed.index, failed.failure.reason) == (1, "the compiler raised RuntimeError: out of luck")
    assert "compile_sample" in failed.failure.detail


def test_a_compilation_that_never_ends_is_stopped() -> None:
    failed = failure(["hang", "ok"], timeout_s=0.7)
    assert (failed.index, failed.failure.reason) == (0, "it took longer than 0.7 s")


def test_what_a_compiler_prints_does_not_disturb_its_answers() -> None:
    assert len(run(["print 1", "print 2", "ok"], 1)) == 3


def test_jobs_must_be_positive() -> None:
    with pytest.raises(InputError) as error:
        run(["ok"], 0)
    assert str(error.value) == "0 jobs at a time are not possible\n  cure: give a number from 1 up"
    assert 1 <= default_jobs() <= len(os.sched_getaffinity(0))


SCRIPT = """
    import signal
    from pack_samples import SAMPLE_COMPILER, SampleSource, SampleToolchain
    from winnow.pack.worker import PROGRAM, Job
    from winnow.workers.pool import run_jobs

    source = SampleSource("k", "hang", ())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    print("begun", flush=True)
    try:
        job = Job(SAMPLE_COMPILER, SampleToolchain(), source, "t")
        run_jobs(PROGRAM, [job] * 2, workers=2, done=lambda *_: None)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def workers_of(pid: int) -> list[int]:
    """Processes whose parent is `pid`."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for path in lists for word in path.read_text().split()]


def runs(pid: int) -> bool:
    """True while the process runs; one that only waits to be reaped has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_a_pack_that_is_interrupted_or_killed(sent: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        try:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "begun\n"
            limit = time.monotonic() + 20
            while len(children := workers_of(parent.pid)) < 2 and time.monotonic() < limit:
                time.sleep(0.02)
            assert len(children) == 2
            parent.send_signal(sent)
            out, _ = parent.communicate(timeout=20)
        finally:
            parent.kill()
    assert out == ("interrupted\n" if sent == signal.SIGINT else "")
    while any(map(runs, children)) and time.monotonic() < limit:
        time.sleep(0.02)
    assert not any(map(runs, children))
