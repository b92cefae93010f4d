"""The parent's end of a worker: starting it, asking it, and saying what became of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from winnow.machine import child_environment
from winnow.workers.messages import NUMBERS, Channel

_PROGRAM = """\
import json, sys
sys.path += [path for path in json.loads(sys.argv[1]) if path not in sys.path]
from winnow.workers.child import main
main(*sys.argv[2:])
"""
_PACKAGE_ROOT = str(Path(__file__).parents[2])
_START_SECONDS = 120.0
_END_SECONDS = 1.0
_GONE_SECONDS = 30.0
_LOOK_SECONDS = 0.002
_SAID_BYTES = 4000


@dataclass(frozen=True)
class Program:
    """What a worker runs: a module with `start(*arguments)`, see `child.main`, and how messages are written.

    Isolated, it has the standard library and this package only: it starts fast, and nothing of the user's can change
    what it imports. Otherwise it imports what this process could. `environment` adds to this process's. A worker that
    runs too long gets SIGTERM and `grace_s` seconds to end what it started in sessions of their own.
    """

    module: str
    arguments: tuple[str, ...] = ()
    codec: Literal["json", "pickle"] = "pickle"
    isolated: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    grace_s: float = 0.0


class WorkerFault(Exception):
    """A worker gave no answer and has ended: it died ("crash") or took longer than its limit ("timeout").

    `cause` continues the sentence "the worker …"; `said` is the end of what it wrote; `signal` what killed it, if so.
    """

    def __init__(
        self, kind: Literal["crash", "timeout"], cause: str, said: str = "", killed_by: int | None = None
    ) -> None:
        super().__init__(kind, cause, said, killed_by)
        self.kind = kind
        self.cause = cause
        self.said = said
        self.killed_by = killed_by


class Worker:
    """One running worker, which answers one request at a time. `hello` is the first that it says.

    `tied` says that the calling thread lives as long as the worker may; unless given, the main thread does. `begun` is
    called with the worker before it has said anything, so that another thread can end it while it starts.

    Raises:
        WorkerFault: it does not start.
    """

    def __init__(
        self, program: Program, *, tied: bool | None = None, begun: Callable[[Worker], None] | None = None
    ) -> None:
        self._number = 0
        self._said_before = 0
        self._grace_s = program.grace_s
        self._ending = threading.Lock()
        self._output = os.fdopen(os.memfd_create("winnow-worker-output"), "r+b", buffering=0)
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours, program.codec)
        flags = ("-I", "-S") if program.isolated else ("-P",)
        if tied is None:
            tied = threading.current_thread() is threading.main_thread()
        command = [
            *(sys.executable, *flags, "-c", _PROGRAM, json.dumps([_PACKAGE_ROOT] if program.isolated else [])),
            *(str(theirs.fileno()), str(os.getpid()), str(int(tied))),
            *(program.codec, program.module, *program.arguments),
        ]
        environment = {**os.environ, **program.environment}
        with theirs:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=self._output,
                    stderr=self._output,
                    pass_fds=(theirs.fileno(),),
                    env=environment if program.isolated else child_environment(**program.environment),
                    # Its own group: an interrupt at the terminal is the parent's to handle, and one signal ends the
                    # worker with all that it started.
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                self._output.close()
                raise WorkerFault("crash", f"cannot be started: {error.strerror}") from None
        if begun is not None:
            begun(self)
        self.hello = self._exchange(_START_SECONDS)

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._channel.socket.fileno() >= 0 and self._exit_code() is None

    def request(self, message: Any, limit_s: float, descriptor: int | None = None) -> Any:
        """Its reply. After any exception the worker has ended: a late reply is nobody's.

        Raises:
            WorkerFault: it died, or did not answer within `limit_s` seconds.
        """
        self._number = self._number % (NUMBERS - 1) + 1
        with contextlib.suppress(ValueError):  # it has ended, which the exchange says
            self._said_before = self._written()
        return self._exchange(limit_s, message, descriptor)

    def send_signal(self, number: signal.Signals) -> None:
        """Send the process a signal, whatever thread waits for its answer; one that ends it is that thread's fault."""
        with self._ending:
            if self._process.returncode is None:
                os.kill(self._process.pid, number)

    def end(self) -> None:
        """End the worker, whatever it is doing, and all that it started. A second call does nothing."""
        with self._ending:
            if self._channel.socket.fileno() < 0:
                return
            self._channel.socket.close()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            # A killed process goes when its GPU's driver lets it, which may be never; this one has to go on.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GONE_SECONDS)
            self._output.close()

    def _exchange(self, limit_s: float, message: Any = None, descriptor: int | None = None) -> Any:
        """Send the message with the present number, if that is not 0, and take the reply with that number."""
        try:
            self._channel.deadline = time.monotonic() + limit_s
            if self._number:
                self._channel.send(self._number, message, descriptor)
            received = self._channel.receive()
            if received.number != self._number:
                raise ValueError(f"the answer to request {received.number}, not to {self._number}")
        except TimeoutError:
            said = self._said()
            self._unwind()
            self.end()
            raise WorkerFault("timeout", f"gave no answer within {limit_s:g} s", said) from None
        except (OSError, EOFError, ValueError):
            raise self._crash() from None
        except BaseException:
            # Interrupted between a request and its reply: the next reply would be taken for this one.
            self._unwind()
            self.end()
            raise
        return received.message

    def _unwind(self) -> None:
        """Let the worker end what it started out of its group's reach."""
        if self._grace_s:
            self.send_signal(signal.SIGTERM)
            self._exit_code(self._grace_s)

    def _crash(self) -> WorkerFault:
        code, said = self._exit_code(_END_SECONDS), self._said()
        self.end()
        return WorkerFault("crash", _cause(code), said, -code if code is not None and code < 0 else None)

    def _exit_code(self, wait_s: float = 0.0) -> int | None:
        """Its exit code, negative for a signal; None while it runs, for `wait_s` seconds from now.

        The process stays unreaped until `end`, so that its id stays its own and its group's.
        """
        limit = time.monotonic() + wait_s
        while True:
            try:
                ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            except ChildProcessError:  # somebody in this process waits for every child
                return 0
            if ended is not None:
                return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            if time.monotonic() >= limit:
                return None
            time.sleep(_LOOK_SECONDS)

    def _said(self) -> str:
        """The end of what the worker wrote to its standard output and error since the present request."""
        start = max(self._said_before, self._written() - _SAID_BYTES)
        return os.pread(self._output.fileno(), _SAID_BYTES, start).decode(errors="replace")

    def _written(self) -> int:
        """How many bytes it wrote so far."""
        return os.fstat(self._output.fileno()).st_size


def _cause(code: int | None) -> str:
    if code is None:
        return "broke off the conversation"
    if code >= 0:
        return f"exited with status {code}"
    hint = " (the system ends a process so when memory runs out)" if -code == signal.SIGKILL else ""
    known = -code in {known.value for known in signal.Signals}
    return f"died of {signal.Signals(-code).name if known else f'signal {-code}'}{hint}"
