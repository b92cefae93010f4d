"""A worker's own end: a process that serves commands, never outlives its parent, and may die of a kernel at any time.

The worker of the CPU device imports this and has the standard library only.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import importlib
import os
import resource
import select
import signal
import socket
from collections.abc import Callable, Mapping

from winnow.devices.worker_messages import Message, receive, send

Operations = Mapping[str, Callable[[Message, int | None], Message]]
"""What a worker can be asked for. A reply with the key "fault" is the last one: the worker ends behind it."""

_PR_SET_PDEATHSIG = 1


def main(channel_fd: str, parent: str, tied: str, worker: str, *arguments: str) -> None:
    """Serve commands until the parent closes the channel or ends.

    The module `worker` of this package has `start(*arguments)`: what to say first, and the operations. `tied` is "1"
    when the thread that started this process lives as long as the parent does.
    """
    # Ctrl-C goes to the whole foreground group; the parent decides what becomes of this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    channel = socket.socket(fileno=int(channel_fd))
    if tied == "1":
        # A native call that holds the interpreter's lock for good would hold up the thread below as well.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _thread.start_new_thread(_end_with, (channel, int(parent)))
    if os.getppid() != int(parent):
        return
    hello, operations = importlib.import_module(f"winnow.devices.{worker}").start(*arguments)
    send(channel, hello)
    with contextlib.suppress(EOFError):
        _serve(channel, operations)


def _serve(channel: socket.socket, operations: Operations) -> None:
    reply: Message = {}
    while "fault" not in reply:
        message, descriptor = receive(channel)
        reply = operations[message["op"]](message, descriptor)
        send(channel, reply)


def _end_with(channel: socket.socket, parent: int) -> None:
    """Wait for the parent's end, in a thread, so that it also ends a kernel that never returns.

    The socket alone would not do: a process that the parent forked may hold its other end open.
    """
    poll = select.poll()
    poll.register(channel, select.POLLRDHUP)
    with contextlib.suppress(OSError):  # before Linux 5.3 there is only the socket
        poll.register(os.pidfd_open(parent), select.POLLIN)
    poll.poll()
    os.kill(os.getpid(), signal.SIGKILL)
