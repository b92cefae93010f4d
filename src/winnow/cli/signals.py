"""Signals that ask the command to end: it unwinds as from Ctrl-C, so that workers end and what was done is kept."""

from __future__ import annotations

import os
import signal
from types import FrameType

_ASK_TO_END = (signal.SIGTERM, signal.SIGHUP)


def interrupt_when_ended() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt; one that the caller ignores (`nohup`) stays ignored."""
    owner = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == owner:
            raise KeyboardInterrupt
        # A fork of this process, which another part of the command ends.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in _ASK_TO_END:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
