"""A finished tree takes another's place: in one step where the system has it, else in two that can be repaired."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from winnow.files.atomic import write_atomic

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NOT_TO_BE_HAD = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
"""Older kernels, some file systems, and sandboxes that know no `renameat2`; where it is `EPERM`, renaming says so."""


def sibling(target: Path, kind: str, writer: str) -> Path:
    """The hidden path beside `target` of the tree that `writer` (a text of its own) has to stage, or retires."""
    return target.with_name(f".{target.name}.{kind}-{writer}")


def put_in_place(writer: str, target: Path) -> None:
    """Put the tree that `writer` staged at `target`; the one that was there is removed, or left at the staged path."""
    staging = sibling(target, "staging", writer)
    if not target.exists():
        staging.rename(target)
    elif not swap(staging, target):
        _rename_twice(writer, target)


def swap(one: Path, other: Path) -> bool:
    """Exchange two directories in one step; False where the system cannot. Raises OSError where it failed."""
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_TO_BE_HAD:
        return False
    raise OSError(code, os.strerror(code), str(other))


@functools.cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """The C library's function, which glibc has since 2.28."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return function


def _rename_twice(writer: str, target: Path) -> None:
    """Between the two renames the tree is missing; the record lets the next writer finish after a crash there."""
    staging, retired = sibling(target, "staging", writer), sibling(target, "retired", writer)
    record = _record(target)
    write_atomic(record, writer)
    try:
        target.rename(retired)
        staging.rename(target)
    except BaseException:
        if not target.exists() and retired.exists():
            retired.rename(target)
        raise
    finally:
        if target.exists():
            record.unlink()
    shutil.rmtree(retired, ignore_errors=True)


def repair(target: Path) -> None:
    """Finish what a writer began that died between two renames; one that holds the target's lock calls this."""
    record = _record(target)
    try:
        writer = record.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    if re.fullmatch(r"[0-9a-f-]+", writer):
        for kind in ("staging", "retired"):
            tree = sibling(target, kind, writer)
            if not target.exists() and tree.exists():
                tree.rename(target)
    record.unlink()


def _record(target: Path) -> Path:
    return target.with_name(f".{target.name}.exchange")
