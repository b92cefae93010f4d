"""Launches a kernel on operands that end, or begin, at a page which nobody may touch: `fenced_launch.py JOB`.

A read or write outside an operand ends this process with a signal. JOB is a pickled dict: `library` (a path), `symbol`,
`numbers` ([format, offset, value]), `pointers` ([offset, bytes]), `size` of the argument block, and `grid`.
"""

from __future__ import annotations

import ctypes
import mmap
import pickle
import random
import struct
import sys
from pathlib import Path
from typing import Any

_PAGE = mmap.PAGESIZE
_PROT_NONE = 0
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def fenced(nbytes: int, *, at_end: bool, held: list[mmap.mmap]) -> int:
    """The address of `nbytes` of random floats in [0, 1) with a forbidden page behind (or before) them."""
    inside = -(-nbytes // _PAGE) * _PAGE
    region = mmap.mmap(-1, inside + 2 * _PAGE)
    held.append(region)
    start = ctypes.addressof(ctypes.c_char.from_buffer(region))
    address = start + _PAGE + (inside - nbytes if at_end else 0)
    floats = struct.pack(f"<{nbytes // 4}f", *(random.random() for _ in range(nbytes // 4)))
    ctypes.memmove(address, floats, nbytes)
    for page in (start, start + _PAGE + inside):
        if _libc.mprotect(page, _PAGE, _PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect")
    return address


def launch(job: dict[str, Any], *, at_end: bool) -> None:
    held: list[mmap.mmap] = []
    block = ctypes.create_string_buffer(job["size"])
    for layout, offset, value in job["numbers"]:
        struct.pack_into(layout, block, offset, value)
    for offset, nbytes in job["pointers"]:
        struct.pack_into("<Q", block, offset, fenced(nbytes, at_end=at_end, held=held))
    kernel = getattr(ctypes.CDLL(job["library"]), job["symbol"])
    kernel.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32]
    kernel.restype = None
    kernel(ctypes.addressof(block), *job["grid"])


if __name__ == "__main__":
    for each in pickle.loads(Path(sys.argv[1]).read_bytes()):
        print(each["symbol"], flush=True)
        launch(each, at_end=True)
        launch(each, at_end=False)
