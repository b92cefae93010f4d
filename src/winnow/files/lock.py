"""The lock of a directory: one writer at a time, and the others learn who it is.

It is a hidden file beside the directory (`.catalog.lock`) on which the writer holds the kernel's lock, so that a
writer that dies holds nothing. The file is removed when the writer ends, and taken over where one died.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from winnow.errors import InputError, Place
from winnow.files.flock import still_at, take
from winnow.files.holder import Holder, read_holder, this_process, write_holder

MOMENT_S = 10.0
"""How long a step that takes a moment waits for another such step before it refuses, in seconds."""

_POLL_S = 0.05
_UNNOTICED_S = 0.5
"""A wait that nobody is told about."""
_NAMELESS_S = 1.0
"""How long a holder may take to say who it is."""


@dataclass(frozen=True)
class Kind:
    """What a directory holds that a command replaces: its name, and patterns of which one matches a file of it."""

    name: str
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Lock:
    """This process alone writes the directory `target` (the directory itself, where a link led to it)."""

    target: Path
    file: Path
    descriptor: int

    def check(self) -> None:
        """Raises InputError where somebody removed the lock's file, so that others may write, too."""
        if not still_at(self.file, self.descriptor):
            raise InputError(
                "the lock was removed while this command wrote",
                place=Place(str(self.file)),
                cure="run it again, and leave the lock to it",
            )


@dataclass(frozen=True)
class _Blocker:
    """What keeps a writer from a directory: a holder (None while it has not said who it is), and what it writes."""

    holder: Holder | None
    writes: str = "this directory"

    @property
    def named(self) -> bool:
        return self.holder is not None and self.holder.may_live()

    def __str__(self) -> str:
        return "another winnow" if self.holder is None else f"another winnow ({self.holder})"


@contextlib.contextmanager
def locked(target: Path, kind: Kind, *, wait_s: float) -> Iterator[Lock]:
    """Be the only writer of the directory `target`, which may be new; wait `wait_s` seconds at most for another.

    What is there and neither empty nor of the `kind` is somebody's, and refused.

    Nobody may write a directory below or above it meanwhile, either. Folders made for the lock go where they stay
    empty. A wait of more than half a second is told on stderr.

    Raises:
        InputError: another process writes it, and which; what is there is not a directory that can be replaced.
    """
    place = Path(os.path.realpath(target))
    _check_replaceable(target, place, kind)
    made: list[Path] = []
    try:
        lock = _take(target, place, wait_s, made)
        try:
            yield lock
        finally:
            _release(lock.file, lock.descriptor)
    finally:
        with contextlib.suppress(OSError):
            for folder in made:
                folder.rmdir()


def lock_file(directory: Path) -> Path:
    """Where the lock of a directory lies."""
    return directory.with_name(f".{directory.name}.lock")


def _check_replaceable(target: Path, place: Path, kind: Kind) -> None:
    here = Path(os.path.realpath(os.curdir))
    if place == here or place in here.parents:
        raise InputError(
            "holds the current directory, so it cannot be replaced",
            place=Place(str(target)),
            cure="name a directory of its own, or run the command elsewhere",
        )
    if os.path.lexists(place) and not place.is_dir():
        raise InputError("is not a directory", place=Place(str(target)), cure="name a directory, or remove the file")
    if place.is_mount():
        raise InputError(
            "is a mount point, so it cannot be replaced", place=Place(str(target)), cure="name a directory below it"
        )
    if place.is_dir() and any(place.iterdir()) and not any(any(place.glob(mark)) for mark in kind.marks):
        raise InputError(
            f"holds something that is not {kind.name}, so it is not replaced",
            place=Place(str(target)),
            cure="name another directory, or remove what is there",
        )


def _take(target: Path, place: Path, wait_s: float, made: list[Path]) -> Lock:
    began, told = time.monotonic(), False
    while True:
        waited = time.monotonic() - began
        try:
            made += _make_folders(place.parent)
            found = _attempt(place)
        except FileNotFoundError:  # Another writer made the folder, and has just removed it.
            if waited > _NAMELESS_S:
                raise
            continue
        except OSError as error:
            if isinstance(error, PermissionError | NotADirectoryError | FileExistsError):
                raise
            raise InputError(
                f"cannot be locked: {error.strerror}",
                place=Place(str(target)),
                cure="name a directory on a file system that has room and file locks",
            ) from None
        if isinstance(found, Lock):
            return found
        if waited >= (wait_s if found.named else max(wait_s, _NAMELESS_S)):
            raise InputError(
                f"{found} is writing {found.writes}",
                place=Place(str(target)),
                cure="wait until it has ended, or end it; then run this again",
            )
        if waited > _UNNOTICED_S and not told:
            print(f"winnow: {target}: waiting, because {found} is writing {found.writes}", file=sys.stderr)
            told = True
        time.sleep(_POLL_S)


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it; returns those that were not there, the lowest first."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _attempt(place: Path) -> Lock | _Blocker:
    file = lock_file(place)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        if not take(descriptor):
            blocker = _Blocker(read_holder(descriptor))
            os.close(descriptor)
            return blocker
    except BaseException:
        os.close(descriptor)
        raise
    try:
        if not still_at(file, descriptor):
            around: _Blocker | None = _Blocker(None)  # Its holder removed it before this process had it: try again.
        else:
            write_holder(descriptor, this_process())
            # Only now: of two writers of which one lies in the other, the later to lock sees the earlier.
            around = _blocker_around(place)
    except BaseException:
        _release(file, descriptor)
        raise
    if around is None:
        return Lock(place, file, descriptor)
    _release(file, descriptor)
    return around


def _blocker_around(place: Path) -> _Blocker | None:
    """Who writes a directory that `place` lies in, or one that lies in `place`."""
    above = [(lock_file(folder), f"{folder}, in which it lies") for folder in place.parents[:-1]]
    below = [(file, f"{file.parent / file.name[1:-5]}, which lies in it") for file in sorted(place.rglob(".*.lock"))]
    for file, writes in [*above, *below]:
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:  # Most often it is not there, and nobody writes.
            continue
        try:
            if not take(descriptor, shared=True):
                return _Blocker(read_holder(descriptor), writes)
        finally:
            os.close(descriptor)
    return None


def _release(file: Path, descriptor: int) -> None:
    if still_at(file, descriptor):
        os.unlink(file)
    os.close(descriptor)
