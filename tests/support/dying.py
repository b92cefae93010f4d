"""Writers that die: work in a forked process that kills itself before any one of its system calls."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from winnow.files import exchange

CALLS = [
    *[(os, name) for name in ("open", "mkdir", "link", "fsync", "rename", "replace", "unlink", "rmdir")],
    *[(os, name) for name in ("pwrite", "ftruncate", "fchmod")],
    (fcntl, "flock"),
    (exchange, "swap"),
]


def each_death(work: Callable[[], object]) -> Iterator[int]:
    """Run `work` again and again; each run dies one system call later, until one survives."""
    calls = 0
    while dies(work, calls):
        yield calls
        calls += 1


def dies(work: Callable[[], object], calls: int = sys.maxsize) -> bool:
    """Whether `work`, in a process of its own, is killed before it ends: it is after so many calls."""
    child = os.fork()
    if child == 0:
        try:
            _count(calls)
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - whatever it is, the forked test must not go on.
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


def _count(calls: int) -> None:
    left = [calls]

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return function(*arguments, **options)

        return call

    for module, name in CALLS:
        setattr(module, name, counted(getattr(module, name)))
