"""Workers that interpret launches: the flag that makes Triton interpret is a whole process's."""

from __future__ import annotations

import contextlib
import importlib.util
import queue
import threading
from collections.abc import Callable, Iterator

from winnow.errors import Incomplete
from winnow.interpreter.launch import Interpreted, Launch
from winnow.workers.process import Program, Worker, WorkerFault

TIMEOUT_SECONDS = 600.0
"""The longest that one launch may take; most take a second."""

_SHOWN_LINES = 12
# One thread: matrices are small, and their sums come out the same everywhere.
_ENVIRONMENT = {"TRITON_INTERPRET": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_PROGRAM = Program("winnow.interpreter.worker", environment=_ENVIRONMENT)

Interpret = Callable[[Launch], Interpreted]


@contextlib.contextmanager
def interpreter(processes: int = 1, timeout_s: float = TIMEOUT_SECONDS) -> Iterator[Interpret]:
    """A function that says what memory holds after a launch; as many threads may call it as there are processes.

    It raises Incomplete where a process died, or gave no answer to a launch in `timeout_s`; the next launch gets
    another process. After the context it raises RuntimeError.

    Raises:
        Incomplete: Triton is not installed, or a process does not start.
    """
    if importlib.util.find_spec("triton") is None:
        raise Incomplete(
            "Triton is not installed, so its interpreter cannot run", cure="pip install 'winnow-kernels[gpu]'"
        )
    with contextlib.ExitStack() as stack:
        idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        # A thread that still asks when the context ends must not leave a new process behind.
        over, ending = threading.Event(), threading.Lock()

        def started() -> Worker:
            try:
                worker = Worker(_PROGRAM)
            except WorkerFault as fault:
                raise _incomplete(fault) from None
            with ending:
                if not over.is_set():
                    stack.callback(worker.end)
                    return worker
            worker.end()
            raise RuntimeError("the interpreter has ended")

        def interpret(launch: Launch) -> Interpreted:
            worker = idle.get()
            try:
                if over.is_set():
                    raise RuntimeError("the interpreter has ended")
                if not worker.alive():
                    worker = started()
                return _answer(worker, launch, timeout_s)
            finally:
                idle.put(worker)

        for _ in range(processes):
            idle.put(started())
        try:
            yield interpret
        finally:
            with ending:
                over.set()


def _answer(worker: Worker, launch: Launch, timeout_s: float) -> Interpreted:
    try:
        interpreted: Interpreted = worker.request(launch, timeout_s)
    except WorkerFault as fault:
        if fault.kind == "timeout":
            said = f"{launch.source.symbol}: the interpreter gave no answer to a launch in {timeout_s:g} s"
            raise Incomplete(said) from None
        raise _incomplete(fault) from None
    return interpreted


def _incomplete(fault: WorkerFault) -> Incomplete:
    said = fault.said.strip().splitlines()[-_SHOWN_LINES:]
    return Incomplete("\n    ".join([f"the interpreter's worker {fault.cause}", *said]))
