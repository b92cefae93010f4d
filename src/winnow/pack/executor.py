"""How compile jobs are run: an executor chosen by name, from the entry-point group `winnow.executors`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from winnow import plugins
from winnow.pack.worker import PROGRAM, Job
from winnow.workers.pool import Timing, run_jobs

GROUP = "winnow.executors"
LOCAL_NAME = "local"


class RunJobs(Protocol):
    """Runs every job, `workers` at a time, and hands each result to `done(index, result)` in the calling thread.

    The same results and the same first failure for any number of workers. Raises `winnow.workers.pool.JobFailed`.
    """

    def __call__(
        self, jobs: Sequence[Job], *, workers: int, done: Callable[[int, Any], None], timeout_s: float
    ) -> Timing: ...


@dataclass(frozen=True)
class Executor:
    """Where compile jobs run. Registered in the entry-point group `winnow.executors`."""

    name: str
    run: RunJobs


LOCAL = Executor(LOCAL_NAME, partial(run_jobs, PROGRAM))
"""Worker processes on this machine."""


def find_executor(name: str = LOCAL_NAME) -> Executor:
    """The installed executor of this name.

    Raises:
        InputError: nobody offers it, or it cannot be loaded.
    """
    found: Executor = plugins.load(GROUP, name, Executor)
    return found
