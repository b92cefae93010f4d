"""Compile jobs in worker processes: any number of them gives the same objects and the same first failure."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import IO, Any

from winnow.compilers.code_object import CodeObject
from winnow.errors import InputError
from winnow.machine import available_bytes, child_environment, usable_processors
from winnow.pack.worker import FRAME, Failure, Job

TIMEOUT_SECONDS = 600.0
"""The longest that one variant may compile before it counts as failed, whatever the others took."""

_LEAST_TIMEOUT_SECONDS = 120.0
_SAMPLE = 8
_TIMES_THE_MEDIAN = 60

_ATTEMPTS = 2
_GRACE_SECONDS = 2.0
_SAID_CHARACTERS = 4000
_JOB_MEMORY_BYTES = 600 << 20
"""A worker's peak with the heaviest back end measured; fewer jobs run where memory is short."""

Done = Callable[[int, Any], None]


@dataclass(frozen=True)
class Timing:
    """Seconds that jobs took: all together, the slowest one, and the limit that the last one had."""

    total_s: float = 0.0
    slowest_s: float = 0.0
    limit_s: float = TIMEOUT_SECONDS


class _Clock:
    """How long jobs take, and so how long the next may take: far longer than those before it, but not for ever."""

    def __init__(self, most_s: float) -> None:
        self.most_s = most_s
        self.taken: list[float] = []

    def limit(self) -> float:
        """The time limit of a job that begins now."""
        if len(self.taken) < _SAMPLE:
            return self.most_s
        return min(self.most_s, max(_LEAST_TIMEOUT_SECONDS, _TIMES_THE_MEDIAN * median(self.taken)))

    def timing(self) -> Timing:
        return Timing(sum(self.taken), max(self.taken, default=0.0), self.limit())


class JobFailed(Exception):
    """The first job, in the order given, that gave no object."""

    def __init__(self, index: int, failure: Failure) -> None:
        super().__init__(index, failure)
        self.index = index
        self.failure = failure


def default_jobs() -> int:
    """As many workers as this process may use processors, and memory holds."""
    return max(1, min(usable_processors(), available_bytes() // _JOB_MEMORY_BYTES))


def run_jobs(jobs: Sequence[Job], *, workers: int, done: Done, timeout_s: float = TIMEOUT_SECONDS) -> Timing:
    """Compile every job and hand each object (or digest) to `done(index, object)` as it arrives.

    A worker that dies costs its job one retry. After a failure no further job is begun; those begun are awaited, so
    that the failure reported is the first in the order of `jobs`, however many workers there are. A job may run for
    `timeout_s`; once some are done, for sixty times their median, but two minutes at least.

    Raises:
        JobFailed: a job failed, ran longer than its limit, or took its worker down twice.
        InputError: `workers` is not positive.
    """
    if workers < 1:
        raise InputError(f"{workers} compile jobs at a time are not possible", cure="give a number from 1 up")
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        pool = [_Worker() for _ in range(min(workers, len(jobs)))]
        for worker in pool:
            stack.callback(worker.stop)
        clock = _Clock(timeout_s)
        _drive(jobs, pool, selector, done, clock)
        return clock.timing()


def _drive(
    jobs: Sequence[Job], pool: list[_Worker], selector: selectors.BaseSelector, done: Done, clock: _Clock
) -> None:
    following = 0
    failed: dict[int, Failure] = {}

    def begin(worker: _Worker, index: int, attempt: int) -> None:
        fd = worker.begin(jobs[index], index, attempt, clock.limit())
        selector.register(fd, selectors.EVENT_READ, worker)

    def settle(worker: _Worker, outcome: CodeObject | str | Failure | None) -> None:
        nonlocal following
        index, attempt = worker.index, worker.attempt
        if isinstance(outcome, (CodeObject, str)):
            clock.taken.append(time.monotonic() - worker.begun)
            done(index, outcome)
        elif outcome is not None:
            failed[index] = outcome
        elif attempt < _ATTEMPTS:
            begin(worker, index, attempt + 1)
            return
        else:
            failed[index] = Failure(f"the compiler's process died {_ATTEMPTS} times ({worker.death})", worker.said)
        if following < len(jobs) and not failed:
            begin(worker, following, 1)
            following += 1

    for worker in pool:
        begin(worker, following, 1)
        following += 1
    while busy := [key.data for key in selector.get_map().values()]:
        soonest = min(worker.deadline for worker in busy)
        for key, _ in selector.select(max(0.0, soonest - time.monotonic())):
            worker = key.data
            outcome = worker.receive(key.fd)
            if outcome is not _UNFINISHED:
                selector.unregister(key.fd)
                settle(worker, outcome)
        for key in [key for key in selector.get_map().values() if key.data.deadline <= time.monotonic()]:
            worker = key.data
            selector.unregister(key.fd)
            worker.stop()
            settle(worker, Failure(f"compiling took longer than {worker.limit_s:g} s", worker.said))
    if failed:
        first = min(failed)
        raise JobFailed(first, failed[first])


_UNFINISHED: Any = object()


@dataclass(frozen=True)
class _Process:
    """A running worker process with its pipes and what it writes to standard error."""

    popen: subprocess.Popen[bytes]
    jobs: IO[bytes]
    answers: IO[bytes]
    stderr: IO[bytes]


def _start() -> _Process:
    stderr = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
    popen = subprocess.Popen(
        [sys.executable, "-P", "-c", f"from winnow.pack.worker import main; main({os.getpid()})"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=child_environment(),
        # Its own group: an interrupt at the terminal is the pack's to handle.
        start_new_session=True,
    )
    if popen.stdin is None or popen.stdout is None:
        raise RuntimeError("a worker process was started without its pipes")
    return _Process(popen, popen.stdin, popen.stdout, stderr)


class _Worker:
    """A place for one job at a time; its process is started when a job needs it, and again after a death."""

    def __init__(self) -> None:
        self.index = -1
        self.attempt = 0
        self.begun = 0.0
        self.limit_s = 0.0
        self.death = ""
        self.said = ""
        self._process: _Process | None = None
        self._received = bytearray()

    @property
    def deadline(self) -> float:
        """When the present job has run too long."""
        return self.begun + self.limit_s

    def begin(self, job: Job, index: int, attempt: int, limit_s: float) -> int:
        """Send a job; returns the descriptor that its answer will arrive on."""
        self.index, self.attempt, self.begun, self.limit_s = index, attempt, time.monotonic(), limit_s
        if self._process is None:
            self._received.clear()
            self._process = _start()
        raw = pickle.dumps(job)
        # A process that died meanwhile shows as the end of its answers.
        with contextlib.suppress(BrokenPipeError):
            self._process.jobs.write(FRAME.pack(len(raw)) + raw)
            self._process.jobs.flush()
        return self._process.answers.fileno()

    def receive(self, fd: int) -> Any:
        """The answer once it is complete; None where the process died; `_UNFINISHED` where more is to come."""
        piece = os.read(fd, 1 << 20)
        if not piece:
            self._bury()
            return None
        self._received += piece
        if len(self._received) < FRAME.size:
            return _UNFINISHED
        (size,) = FRAME.unpack_from(self._received)
        if len(self._received) < FRAME.size + size:
            return _UNFINISHED
        outcome = pickle.loads(self._received[FRAME.size :])
        self._received.clear()
        return outcome

    def stop(self) -> None:
        """End the process, first in a way that lets a compiler end what it started."""
        if self._process is None:
            return
        os.kill(self._process.popen.pid, signal.SIGTERM)
        fd, limit = self._process.answers.fileno(), time.monotonic() + _GRACE_SECONDS
        while (left := limit - time.monotonic()) > 0 and select.select([fd], [], [], left)[0] and os.read(fd, 1 << 20):
            pass
        self._bury()

    def _bury(self) -> None:
        """Take the process off the table. It is not yet reaped, so its id is still its own."""
        process, self._process = self._process, None
        if process is None:
            return
        os.killpg(process.popen.pid, signal.SIGKILL)
        code = process.popen.wait()
        with contextlib.suppress(BrokenPipeError):
            process.jobs.close()
        process.answers.close()
        process.stderr.seek(0)
        self.said = process.stderr.read().decode(errors="replace")[-_SAID_CHARACTERS:]
        process.stderr.close()
        self.death = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
