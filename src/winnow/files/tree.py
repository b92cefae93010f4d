"""A directory, replaced as a whole: fill another one beside it, flush it to disk, exchange the two."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from winnow.files.atomic import remove_unfinished
from winnow.files.exchange import put_in_place, repair, sibling
from winnow.files.lock import Lock


@contextlib.contextmanager
def staged_tree(lock: Lock) -> Iterator[Path]:
    """A new directory to fill; it takes the locked one's place when the block ends well, and vanishes when it does not.

    What writers that died left beside the directory is repaired and removed first.
    """
    target = lock.target
    repair(target)
    _remove_left_over(target)
    writer = f"{os.getpid()}-{secrets.token_hex(4)}"
    staging = sibling(target, "staging", writer)
    staging.mkdir()
    try:
        yield staging
        _flush(staging)
        lock.check()
        put_in_place(writer, target)
        _flush_file(target.parent)
    finally:
        # The old tree, once the two are exchanged. What cannot be removed is tried again by the next writer.
        shutil.rmtree(staging, ignore_errors=True)


def carry_over(lock: Lock, staging: Path) -> None:
    """Bring into `staging` what stands at the top of the locked directory and has no namesake there.

    Files are linked, not copied, where the file system has hard links.
    """
    for entry in sorted(lock.target.iterdir()) if lock.target.is_dir() else ():
        new = staging / entry.name
        if os.path.lexists(new):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, new, symlinks=True, copy_function=_link)
        else:
            _link(str(entry), str(new))


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
    return target


def _remove_left_over(target: Path) -> None:
    remove_unfinished(target.parent)
    dead = re.compile(rf"\.{re.escape(target.name)}\.(staging|retired)(-[0-9a-f-]+)?")
    for path in target.parent.iterdir():
        if dead.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)


def _flush(tree: Path) -> None:
    """Flush every file and directory of a tree to disk; a file with another link is one that was there before."""
    for folder, _, names in os.walk(tree):
        for name in names:
            path = Path(folder, name)
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                _flush_file(path)
        _flush_file(Path(folder))


def _flush_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
