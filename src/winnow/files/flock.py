"""The kernel's lock of an open file: it ends with the process that holds it, however that process ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def take(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file at once; False where another holds it. Raises OSError where the file system has no locks."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def still_at(path: Path, descriptor: int) -> bool:
    """Whether `path` is still the open file, and not removed or replaced since it was opened."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False
