"""Errors that a user can cause: each has a place, a cure and the exit code that the command ends with."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

SYSTEM_CURES: Mapping[int, str] = MappingProxyType(
    {
        errno.ENOSPC: "make room on that file system",
        errno.EDQUOT: "make room within your quota",
        errno.EFBIG: "allow larger files there (ulimit -f), or name another place",
        errno.EACCES: "get permission to read and write there, or name another place",
        errno.EPERM: "get permission to read and write there, or name another place",
        errno.EROFS: "that file system is read-only: name another place",
        errno.ENOENT: "check the spelling of the path, or create what is missing",
        errno.EEXIST: "remove what is there, or name another place",
        errno.ENOTEMPTY: "empty that directory, or name another place",
        errno.ENOTDIR: "a part of this path is a file: name a path of directories",
        errno.EISDIR: "this is a directory: name a file",
        errno.ELOOP: "symbolic links lead in a circle: name a path without them",
        errno.ENAMETOOLONG: "name a shorter path",
        errno.EMFILE: "raise the limit of open files (ulimit -n), or use fewer jobs",
        errno.ENFILE: "close other programs: the whole system has too many open files",
        errno.ENOMEM: "close other programs, or use fewer jobs: memory is short",
        errno.EAGAIN: "raise the limit of processes (ulimit -u), or use fewer jobs",
        errno.ETXTBSY: "end the program that runs this file",
        errno.EIO: "check that disk: it fails to read or write",
        errno.ESTALE: "mount that file system again",
    }
)
"""What helps against a failure that the operating system reports, by its number."""


@dataclass(frozen=True)
class Place:
    """Where something stands: a file, and as far as it is known its line (from 1) and key (`a.b[0]`)."""

    file: str
    line: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return where if not self.key else f"{where}: {self.key}"


class WinnowError(Exception):
    """Base of every error that a user can cause. `str()` is what the command prints."""

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, *, place: Place | None = None, cure: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.cure = cure

    def __str__(self) -> str:
        head = self.message if self.place is None else f"{self.place}: {self.message}"
        return head if self.cure is None else f"{head}\n  cure: {self.cure}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.place, self.cure)


def _rebuild(kind: type[WinnowError], message: str, place: Place | None, cure: str | None) -> WinnowError:
    return kind(message, place=place, cure=cure)


class InputError(WinnowError):
    """Unusable input or environment: malformed, unknown or duplicate key, missing tool. Exit code 2."""


class Refused(WinnowError):
    """A gate, a budget or a rule says no. Exit code 1."""

    exit_code = 1


class Incomplete(WinnowError):
    """Evidence is missing: a sweep or a check did not run to its end. Exit code 3."""

    exit_code = 3


def nearest(wanted: str, known: Iterable[str]) -> str:
    """A cure that names the nearest known spelling, or all of them where none is near."""
    names = sorted(set(known))
    close = difflib.get_close_matches(wanted, names, n=1, cutoff=0.6)
    if close:
        return f'did you mean "{close[0]}"?'
    if not names:
        return "nothing is known here"
    shown = ", ".join(names[:12])
    return f"known: {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")
