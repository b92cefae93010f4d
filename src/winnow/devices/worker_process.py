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
from collections.abc import Sequence
from pathlib import Path

from winnow.devices.device import DeviceFault
from winnow.devices.worker_messages import Message, receive, send
from winnow.errors import InputError

_PROGRAM = """\
import json, sys
sys.path += [path for path in json.loads(sys.argv[1]) if path not in sys.path]
from winnow.devices.worker_serving import main
main(*sys.argv[2:])
"""
_PACKAGE_ROOT = str(Path(__file__).parents[2])
_START_SECONDS = 120.0
_END_SECONDS = 1.0
_GONE_SECONDS = 30.0
_SAID_BYTES = 400


class WorkerProcess:
    """One running worker. `modules` and `buffers` are the numbers of what it holds; a new worker holds nothing.

    `worker` is a module of this package, `arguments` are its own. Isolated, it has the standard library and this
    package only: it starts fast, and nothing of the user's can change what it imports. Otherwise it imports what this
    process could. `hello` is the first that it says.

    Raises:
        InputError: it does not start, or says that it cannot work.
    """

    def __init__(self, device: str, worker: str, arguments: Sequence[str], *, isolated: bool) -> None:
        self.modules: set[int] = set()
        self.buffers: set[int] = set()
        self._output = os.fdopen(os.memfd_create("winnow-worker-output"), "r+b", buffering=0)
        self._channel, theirs = socket.socketpair()
        flags, paths = (("-I", "-S"), [_PACKAGE_ROOT]) if isolated else (("-P",), [str(path) for path in sys.path])
        tied = int(threading.current_thread() is threading.main_thread())
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    *(*flags, "-c", _PROGRAM, json.dumps(paths)),
                    *(str(theirs.fileno()), str(os.getpid()), str(tied), worker, *arguments),
                ],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                pass_fds=(theirs.fileno(),),
            )
        try:
            self.hello = self._exchange(None, _START_SECONDS)
        except DeviceFault as fault:
            raise InputError(f"the {device} device's worker does not start: {fault.detail}") from None
        if "error" in self.hello:
            self.end()
            raise InputError(self.hello["error"], cure=self.hello["cure"])

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def request(self, message: Message, limit_s: float, descriptor: int | None = None) -> Message:
        """Its reply. After any exception the worker has ended.

        Raises:
            DeviceFault: it ended or met a fault that it cannot go on after ("crash"), or did not answer within
                `limit_s` seconds ("timeout").
        """
        reply = self._exchange(message, limit_s, descriptor)
        if "fault" in reply:
            self.end()
            raise DeviceFault("crash", reply["fault"])
        return reply

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
        # A killed process goes when its GPU's driver lets it, which may be never; this one has to go on.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GONE_SECONDS)
        self._output.close()


def _cause(code: int | None) -> str:
    if code is None:
        return "the worker broke off the conversation"
    if code >= 0:
        return f"the worker exited with status {code}"
    hint = " (the system ends a process so when memory runs out)" if -code == signal.SIGKILL else ""
    known = -code in {known.value for known in signal.Signals}
    return f"the worker died of {signal.Signals(-code).name if known else f'signal {-code}'}{hint}"
