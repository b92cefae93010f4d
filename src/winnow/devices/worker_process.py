"""The parent's end of a CPU worker: starting it, asking it, and saying what became of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from winnow.devices import cpu_worker
from winnow.devices.cpu_worker import Message, receive, send
from winnow.devices.device import DeviceFault
from winnow.errors import InputError

_START_SECONDS = 30.0
_END_SECONDS = 1.0
_SAID_BYTES = 400


class WorkerProcess:
    """One running worker. `modules` and `buffers` are the numbers of what it holds; a new worker holds nothing."""

    def __init__(self, cpu: int) -> None:
        self.cpu = cpu
        self.modules: set[int] = set()
        self.buffers: set[int] = set()
        self._output = os.fdopen(os.memfd_create("winnow-worker-output"), "r+b", buffering=0)
        self._channel, theirs = socket.socketpair()
        with theirs:
            # Isolated and without site-packages: it starts fast, and nothing of the user's can change what it imports.
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    *("-I", "-S", str(Path(cpu_worker.__file__))),
                    *(str(theirs.fileno()), str(os.getpid()), str(cpu)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                pass_fds=(theirs.fileno(),),
            )
        try:
            self.pinned = bool(self._exchange(None, _START_SECONDS)["pinned"])
        except DeviceFault as fault:
            raise InputError(f"the CPU device's worker does not start: {fault.detail}") from None

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def request(self, message: Message, limit_s: float, descriptor: int | None = None) -> Message:
        """Its reply. After any exception the worker has ended.

        Raises:
            DeviceFault: it ended ("crash") or did not answer within `limit_s` seconds ("timeout").
        """
        return self._exchange(message, limit_s, descriptor)

    def _exchange(self, message: Message | None, limit_s: float, descriptor: int | None = None) -> Message:
        """Send the message, if any, and take the next reply."""
        try:
            self._channel.settimeout(limit_s)
            if message is not None:
                send(self._channel, message, descriptor)
            reply, _ = receive(self._channel)
        except TimeoutError:
            self.end()
            raise DeviceFault("timeout", f"no answer within {limit_s:g} s, so the worker was ended") from None
        except (OSError, EOFError, ValueError):
            raise self._crash() from None
        except BaseException:
            # Interrupted between a command and its reply: the next reply would be taken for this one.
            self.end()
            raise
        return reply

    def _crash(self) -> DeviceFault:
        try:
            code: int | None = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        said = self._said()
        self.end()
        return DeviceFault("crash", _cause(code) + (f"; it wrote: {said}" if said else ""))

    def _said(self) -> str:
        """The end of what the worker wrote to its standard output and error."""
        size = self._output.seek(0, os.SEEK_END)
        raw = os.pread(self._output.fileno(), _SAID_BYTES, max(0, size - _SAID_BYTES))
        return " ".join(raw.decode(errors="replace").split())

    def end(self) -> None:
        """End the worker, whatever it is doing. A second call does nothing."""
        if self._channel.fileno() < 0:
            return
        self._channel.close()
        self._process.kill()
        self._process.wait()
        self._output.close()


def _cause(code: int | None) -> str:
    if code is None:
        return "the worker broke off the conversation"
    if code >= 0:
        return f"the worker exited with status {code}"
    hint = " (the system ends a process so when memory runs out)" if -code == signal.SIGKILL else ""
    known = -code in {known.value for known in signal.Signals}
    return f"the worker died of {signal.Signals(-code).name if known else f'signal {-code}'}{hint}"
