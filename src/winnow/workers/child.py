"""A worker's own end: it answers messages, never outlives its parent, and may die of what it runs at any time.

A worker imports this with the standard library alone.
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
from collections.abc import Callable
from typing import Any

from winnow.workers.messages import Channel

Answer = Callable[[Any, int | None], Any]
"""What a worker does with a message and the descriptor that came with it."""

_PR_SET_PDEATHSIG = 1


def main(channel_fd: str, parent: str, tied: str, codec: str, module: str, *arguments: str) -> None:
    """Answer messages until the parent closes the channel or ends.

    `module` has `start(*arguments)`: what to say first, and the `Answer`. `tied` is "1" when the thread that started
    this process lives as long as this process may.
    """
    # Ctrl-C is for the parent, which decides what becomes of this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    channel = Channel(socket.socket(fileno=int(channel_fd)), codec)
    if tied == "1":
        die_with(int(parent))
    else:
        _thread.start_new_thread(_end_with, (channel.socket, int(parent)))
    hello, answer = importlib.import_module(module).start(*arguments)
    channel.send(0, hello)
    with contextlib.suppress(EOFError):
        while True:
            received = channel.receive()
            channel.send(received.number, answer(received.message, received.descriptor))


def die_with(parent: int) -> None:
    """This process ends when the thread that started it does, which is one of the process `parent`.

    Even in a native call that never gives the interpreter's lock back.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _end_with(connection: socket.socket, parent: int) -> None:
    """Wait for the parent's end, in a thread, so that it also ends a kernel that never returns.

    The socket alone would not do: a process that the parent forked may hold its other end open.
    """
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    with contextlib.suppress(OSError):  # before Linux 5.3 there is only the socket
        poll.register(os.pidfd_open(parent), select.POLLIN)
    poll.poll()
    os.kill(os.getpid(), signal.SIGKILL)
