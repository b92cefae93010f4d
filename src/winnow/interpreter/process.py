"""Processes that interpret launches: the flag that makes Triton interpret is a whole process's."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from winnow.errors import Incomplete, InputError
from winnow.interpreter.launch import Interpreted, Launch
from winnow.machine import child_environment

TIMEOUT_SECONDS = 600.0
"""The longest that one launch may take; most take a second."""

_SHOWN_LINES = 12
# One thread: matrices are small, and their sums come out the same everywhere.
_ENVIRONMENT = {"TRITON_INTERPRET": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

Interpret = Callable[[Launch], Interpreted]


@contextlib.contextmanager
def interpreter(processes: int = 1, timeout_s: float = TIMEOUT_SECONDS) -> Iterator[Interpret]:
    """A function that says what memory holds after a launch; as many threads may call it as there are processes.

    It raises Incomplete where a process died, or gave no answer to a launch in `timeout_s`.

    Raises:
        InputError: Triton is not installed.
    """
    if importlib.util.find_spec("triton") is None:
        raise InputError(
            "Triton is not installed, so its interpreter cannot run", cure="pip install 'winnow-kernels[gpu]'"
        )
    with contextlib.ExitStack() as stack:
        idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        for _ in range(processes):
            idle.put(stack.enter_context(_started()))

        def interpret(launch: Launch) -> Interpreted:
            process = idle.get()
            try:
                return _answer(process, launch, timeout_s)
            finally:
                idle.put(process)

        yield interpret


@dataclass(frozen=True)
class _Process:
    """A running worker with its pipes and what it writes to standard error."""

    popen: subprocess.Popen[bytes]
    launches: IO[bytes]
    answers: IO[bytes]
    stderr: IO[bytes]


@contextlib.contextmanager
def _started() -> Iterator[_Process]:
    """A worker, which is gone with all that it started when the context ends."""
    with tempfile.TemporaryFile() as stderr:
        popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "winnow.interpreter.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=child_environment(**_ENVIRONMENT),
            # Its own group, so that one signal ends it together with the launch that it forked.
            start_new_session=True,
        )
        if popen.stdin is None or popen.stdout is None:
            raise RuntimeError("a worker process was started without its pipes")
        try:
            yield _Process(popen, popen.stdin, popen.stdout, stderr)
        finally:
            # Where the worker is dead already but not reaped, its id is still its group's.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(popen.pid, signal.SIGKILL)
            popen.wait()
            popen.stdout.close()
            with contextlib.suppress(BrokenPipeError):
                popen.stdin.close()


def _answer(process: _Process, launch: Launch, timeout_s: float) -> Interpreted:
    try:
        pickle.dump(launch, process.launches)
        process.launches.flush()
        if not select.select([process.answers], [], [], timeout_s)[0]:
            raise Incomplete(f"{launch.source.symbol}: the interpreter gave no answer to a launch in {timeout_s:g} s")
        answered: Interpreted = pickle.load(process.answers)
    except (BrokenPipeError, EOFError, pickle.UnpicklingError):
        code = process.popen.wait()
        process.stderr.seek(0)
        said = process.stderr.read().decode(errors="replace").strip().splitlines()[-_SHOWN_LINES:]
        raise Incomplete("\n    ".join([f"the interpreter's process ended with {code}", *said])) from None
    return answered
