"""Failures of a command: for each the exit code and the message, whatever raised it."""

from __future__ import annotations

import os
import select
import sys
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import NamedTuple, TextIO

from winnow.errors import SYSTEM_CURES, WinnowError

TRACEBACK = "WINNOW_TRACEBACK"
"""The variable with which an error of exit code 2 shows its traceback."""


class Failure(NamedTuple):
    """How a command ends: its exit code, and what stderr says (nothing if it is empty)."""

    code: int
    message: str


def report(error: BaseException) -> int:
    """Say on stderr what went wrong, and return the exit code of it."""
    failure = failure_of(error)
    text = failure.message
    if failure.code == 2 and os.environ.get(TRACEBACK):
        text = "".join(traceback.format_exception(error)) + text
    _let_go(sys.stdout)
    if text:
        _say(text)
    return failure.code


def failure_of(error: BaseException) -> Failure:
    """Exit code and message of whatever a command raised."""
    if isinstance(error, WinnowError):
        return Failure(error.exit_code, f"winnow: {error}")
    if _comes_of(error, KeyboardInterrupt):
        return Failure(130, "winnow: interrupted; what was done is kept, the same command resumes")
    if _comes_of(error, BrokenPipeError) and _reader_left(sys.stdout):
        return Failure(0, "")  # `winnow … | head`: what it wanted, it has
    if isinstance(error, SystemExit):
        return Failure(2, _escaped_exit(error))
    if isinstance(error, OSError) and (cure := SYSTEM_CURES.get(error.errno or 0)):
        return Failure(2, f"winnow: {_path_of(error)}: {error.strerror}\n  cure: {cure}")
    return Failure(2, _unexpected(error))


def _comes_of(error: BaseException, kind: type[BaseException]) -> bool:
    """Whether it is of the kind, or what came of one that is.

    An interrupt while a class is made is a RuntimeError in Python 3.11; Typer exits where a pipe's reader has left.
    """
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, kind):
        seen = seen.__cause__ or seen.__context__
    return seen is not None


def _escaped_exit(error: SystemExit) -> str:
    frames = list(_frames(error))
    where = _place(*frames[-1]) if frames else "some code"
    return (
        f"winnow: {where} ended the process with exit code {error.code!r} in the middle of a command\n"
        "  cure: let that code raise an exception instead of calling sys.exit"
    )


def _unexpected(error: BaseException) -> str:
    said = " ".join(_text(error).split())
    kind = type(error).__name__
    frames = list(_frames(error))
    own = [frame for frame in frames if _module(frame[0]).split(".")[0] == "winnow"]
    where = f" at {_place(*own[-1])}" if own else ""
    if frames and (not own or own[-1] is not frames[-1]):
        where += f", raised at {_place(*frames[-1])}"
    head = f"winnow: unexpected {kind}{where}{': ' if said else ''}{said}"
    return head if os.environ.get(TRACEBACK) else f"{head}\n  cure: run with {TRACEBACK}=1 to see the traceback"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception of foreign code may fail to say what it is
        return ""


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """The frames that the error passed, with their lines, outermost first."""
    return traceback.walk_tb(error.__traceback__)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", frame.f_code.co_filename))


def _place(frame: FrameType, line: int) -> str:
    return f"{_module(frame)}:{line}"


def _path_of(error: OSError) -> str:
    return "output" if error.filename is None or isinstance(error.filename, int) else os.fsdecode(error.filename)


def _reader_left(stream: TextIO | None) -> bool:
    """Whether this is a pipe that nobody reads any more."""
    try:
        poll = select.poll()
        poll.register(stream.fileno() if stream is not None else -1, 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError):
        return False


def _say(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _let_go(sys.stderr)


def _let_go(stream: TextIO | None) -> None:
    """Write what a stream still holds; what it cannot write goes nowhere, so that the interpreter ends silently."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
