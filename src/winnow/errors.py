"""Errors that a user can cause: each has a place, a cure and the exit code that the command ends with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar


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
