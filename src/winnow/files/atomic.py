"""One file, replaced as a whole: write beside it, flush to disk, rename."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import secrets
from pathlib import Path

from winnow.files.flock import still_at, take

PREFIX = ".winnow-tmp-"
"""How the names of unfinished files begin. Their writers hold the kernel's lock on them for as long as they live."""


def write_atomic(path: Path, data: bytes | str) -> None:
    """Write `data` (text as UTF-8) to `path` so that a crash leaves either the old file or the new one.

    A process's first write in a folder removes the unfinished files of writers that died there.
    """
    raw = data.encode() if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    _enter(path.parent.absolute())
    temporary, descriptor = _create(path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fchmod(descriptor, 0o644)
            os.fsync(descriptor)
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            os.replace(temporary, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = str(path)  # writing knows the descriptor only
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _create(folder: Path) -> tuple[Path, int]:
    """A new locked file. Between its creation and its lock, another process may take it for a dead writer's."""
    while True:
        path = folder / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        if _lock(descriptor) and still_at(path, descriptor):
            return path, descriptor
        os.close(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _lock(descriptor: int) -> bool:
    try:
        return take(descriptor)
    except OSError:  # Where files cannot be locked, nobody can take this one for a dead writer's.
        return True


@functools.lru_cache(maxsize=4096)
def _enter(folder: Path) -> None:
    """Clear a folder once a process: to list it at each write would add up."""
    remove_unfinished(folder)


def remove_unfinished(folder: Path) -> None:
    """Remove the unfinished files of dead writers from a folder."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(PREFIX):
                _remove_if_dead(folder / name)


def _remove_if_dead(path: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if take(descriptor):
                os.unlink(path)
        finally:
            os.close(descriptor)
