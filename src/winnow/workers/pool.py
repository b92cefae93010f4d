"""Jobs in worker processes: any number of workers gives the same results and the same first failure.

Not pebble or `concurrent.futures`: their children import the caller's `__main__` again, a job's limit is fixed when
it is scheduled, and neither says how a worker died or what it wrote.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from winnow.errors import InputError
from winnow.machine import available_bytes, usable_processors
from winnow.workers.process import Program, Worker, WorkerFault

TIMEOUT_SECONDS = 600.0
"""The longest that one job may take before it counts as failed, whatever the others took."""

_LEAST_TIMEOUT_SECONDS = 120.0
_SAMPLE = 8
_TIMES_THE_MEDIAN = 60

_ATTEMPTS = 2
_GRACE_SECONDS = 2.0
_LOOK_SECONDS = 0.01
_TURN_SECONDS = 0.5
_SHOWN_LINES = 12
_JOB_MEMORY_BYTES = 600 << 20
"""A worker's peak with the heaviest compiler measured; fewer jobs run where memory is short."""

Done = Callable[[int, Any], None]


@dataclass(frozen=True)
class Failure:
    """Why a job gave no result: one line, what its program said, and the signal that its worker died of, if any."""

    reason: str
    detail: str = ""
    killed_by: int | None = None


@dataclass(frozen=True)
class Timing:
    """Seconds that jobs took: all together, the slowest one, and the limit that the last one had."""

    total_s: float = 0.0
    slowest_s: float = 0.0
    limit_s: float = TIMEOUT_SECONDS


class JobFailed(Exception):
    """The first job, in the order given, that gave no result."""

    def __init__(self, index: int, failure: Failure) -> None:
        super().__init__(index, failure)
        self.index = index
        self.failure = failure


def default_jobs() -> int:
    """As many workers as this process may use processors, and memory holds."""
    return max(1, min(usable_processors(), available_bytes() // _JOB_MEMORY_BYTES))


def run_jobs(
    program: Program, jobs: Sequence[Any], *, workers: int, done: Done, timeout_s: float = TIMEOUT_SECONDS
) -> Timing:
    """Have every job answered by `program` and hand each answer to `done(index, answer)` as it arrives.

    An answer that is a `Failure` is the job's. A worker that dies costs its job one retry in a fresh one. After a
    failure no further job is begun; those begun are awaited, so that the failure reported is the first in the order
    of `jobs`, however many workers there are. A job may run for `timeout_s`; once some are done, for sixty times
    their median, but two minutes at least. `done` is called in the calling thread.

    Raises:
        JobFailed: a job failed, ran longer than its limit, or took its worker down twice.
        InputError: `workers` is not positive.
    """
    if workers < 1:
        raise InputError(f"{workers} jobs at a time are not possible", cure="give a number from 1 up")
    crew = _Crew(program, jobs, timeout_s)
    threads = [threading.Thread(target=crew.work, daemon=True) for _ in range(min(workers, len(jobs)))]
    for thread in threads:
        thread.start()
    failed: dict[int, Failure] = {}
    try:
        working = len(threads)
        while working:
            settled = crew.next_settled()
            if settled is None:
                working -= 1
            elif isinstance(settled, BaseException):
                raise settled
            elif isinstance(settled.answer, Failure):
                failed[settled.index] = settled.answer
            else:
                done(settled.index, settled.answer)
    finally:
        crew.stop()
        for thread in threads:
            thread.join()
    if failed:
        first = min(failed)
        raise JobFailed(first, failed[first])
    return crew.clock.timing()


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


@dataclass(frozen=True)
class _Settled:
    """The answer to a job, or its failure."""

    index: int
    answer: Any


class _Stopped(Exception):
    """The caller wants no more answers."""


class _Crew:
    """Threads with a worker each, which take one job after another until there is none or one has failed."""

    def __init__(self, program: Program, jobs: Sequence[Any], timeout_s: float) -> None:
        self.clock = _Clock(timeout_s)
        self._settled: queue.SimpleQueue[_Settled | BaseException | None] = queue.SimpleQueue()
        self._program = program
        self._jobs = jobs
        self._following = 0
        self._failed = False
        self._stopped = False
        self._lock = threading.Lock()
        self._running: dict[int, Worker] = {}

    def work(self) -> None:
        """Answer jobs, in a thread of its own; None comes after the last answer."""
        try:
            while (index := self._take()) is not None:
                answer = self._answer(self._jobs[index])
                self._failed |= isinstance(answer, Failure)
                self._settled.put(_Settled(index, answer))
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            self._settled.put(error)
        finally:
            self._part()
            self._settled.put(None)

    def next_settled(self) -> _Settled | BaseException | None:
        """The next answer, what a thread raised, or None where a thread has ended."""
        while True:
            # In turns: Python does not notice a signal that comes just before a wait, until the wait is over.
            with contextlib.suppress(queue.Empty):
                return self._settled.get(timeout=_TURN_SECONDS)

    def stop(self) -> None:
        """End every worker: first in a way that lets it end what it started, later in any way."""
        for number, wait_s in ((signal.SIGTERM, _GRACE_SECONDS), (signal.SIGKILL, 0.0)):
            with self._lock:
                self._stopped = True
                running = list(self._running.values())
            for worker in running:
                worker.send_signal(number)
            limit = time.monotonic() + wait_s
            while self._running and time.monotonic() < limit:
                time.sleep(_LOOK_SECONDS)

    def _take(self) -> int | None:
        with self._lock:
            if self._failed or self._stopped or self._following == len(self._jobs):
                return None
            self._following += 1
            return self._following - 1

    def _answer(self, job: Any) -> Any:
        attempts = 0
        while True:
            attempts += 1
            limit_s = self.clock.limit()
            try:
                worker = self._worker()
                began = time.monotonic()
                answer = worker.request(job, limit_s)
            except WorkerFault as fault:
                self._part()
                if self._stopped:
                    raise _Stopped from None
                said = "\n".join(fault.said.strip().splitlines()[-_SHOWN_LINES:])
                if fault.kind == "timeout":
                    return Failure(f"it took longer than {limit_s:g} s", said)
                if attempts == _ATTEMPTS:
                    reason = f"its worker died {attempts} times; the last {fault.cause}"
                    return Failure(reason, said, killed_by=fault.killed_by)
            else:
                if not isinstance(answer, Failure):
                    self.clock.taken.append(time.monotonic() - began)
                return answer

    def _worker(self) -> Worker:
        """This thread's worker, started unless there is one."""
        own = threading.get_ident()
        if own not in self._running:
            Worker(self._program, tied=True, begun=self._enlist)
        if self._stopped:
            raise _Stopped
        return self._running[own]

    def _enlist(self, worker: Worker) -> None:
        """Make this thread's worker known before it has started, so that `stop` need not wait for that."""
        with self._lock:
            self._running[threading.get_ident()] = worker
            stopped = self._stopped
        if stopped:
            worker.send_signal(signal.SIGKILL)

    def _part(self) -> None:
        """End this thread's worker."""
        with self._lock:
            worker = self._running.pop(threading.get_ident(), None)
        if worker is not None:
            worker.end()
