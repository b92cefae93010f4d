"""Who holds a lock, as its file says."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

_MOST_BYTES = 4096
_COMMAND_CHARACTERS = 80


@dataclass(frozen=True)
class Holder:
    """A process that writes: what it runs, on which machine, since when (UTC, ISO 8601)."""

    pid: int
    command: str
    host: str
    since: str

    def __str__(self) -> str:
        where = "" if self.host == _host() else f" on {self.host}"
        return f"process {self.pid}{where}, `{self.command}`"

    def may_live(self) -> bool:
        """False where this machine has no such process: the file is an earlier holder's."""
        if self.host != _host():
            return True
        try:
            with contextlib.suppress(PermissionError):  # It is another user's.
                os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        return True


def this_process() -> Holder:
    """The process that asks."""
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    if len(command) > _COMMAND_CHARACTERS:
        command = f"{command[:_COMMAND_CHARACTERS]}…"
    return Holder(os.getpid(), command, _host(), datetime.now(UTC).isoformat(timespec="seconds"))


def write_holder(descriptor: int, holder: Holder) -> None:
    """Make the open file say who holds it."""
    raw = json.dumps(asdict(holder)).encode()
    os.pwrite(descriptor, raw, 0)
    os.ftruncate(descriptor, len(raw))


def read_holder(descriptor: int) -> Holder | None:
    """Who the open file says holds it; None where it does not say, because its holder has not come to it yet."""
    try:
        # Not through the strict reader, which is built on this package: whatever is wrong here says nothing.
        said = json.loads(os.pread(descriptor, _MOST_BYTES, 0))
        holder = Holder(**said)
    except (ValueError, TypeError, RecursionError):
        return None
    words = (holder.command, holder.host, holder.since)
    if type(holder.pid) is not int or holder.pid <= 0 or not all(isinstance(word, str) for word in words):
        return None
    return Holder(holder.pid, *map(_printable, words))


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)


def _host() -> str:
    return os.uname().nodename
