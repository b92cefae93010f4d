"""Buffers that a device shares with its worker: anonymous memory between two guard zones."""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from winnow.errors import InputError
from winnow.machine import available_bytes

GUARD_BYTES = 64 * 1024
"""Bytes in front of a buffer that must not change; after it there are at least as many."""

# Read as fp32 or bf16 this is a signalling NaN: what a kernel computes from memory outside its buffer becomes NaN,
# and even adding something to it in place makes the NaN a quiet one, which the comparison sees.
_PATTERN = np.frombuffer(b"\xa5\xa5\xa5\xff" * ((GUARD_BYTES + mmap.PAGESIZE) // 4 + 1), np.uint8)


class GuardedBuffer:
    """A `devices.device.Buffer` on the host: page-aligned, zeroed, with no name that could outlive it.

    `forget` is called when the memory is freed, `distrust` when a guard turns out to be damaged.
    """

    def __init__(
        self,
        number: int,
        nbytes: int,
        forget: Callable[[GuardedBuffer], None],
        distrust: Callable[[], None],
    ) -> None:
        if nbytes < 0:
            raise ValueError(f"a buffer of {nbytes} bytes")
        self.number = number
        self.nbytes = nbytes
        self.total_bytes = 2 * GUARD_BYTES + -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        self._forget, self._distrust = forget, distrust
        self._damaged = False
        self._descriptor = _anonymous_memory(self.total_bytes)
        self._close = weakref.finalize(self, os.close, self._descriptor)
        whole = np.frombuffer(mmap.mmap(self._descriptor, self.total_bytes), np.uint8)
        self._whole: NDArray[np.uint8] | None = whole
        self._front, self._back = whole[:GUARD_BYTES], whole[GUARD_BYTES + nbytes :]
        self._phase = nbytes % 4
        self._front[:] = _PATTERN[:GUARD_BYTES]
        self._back[:] = self._expected_back()

    @property
    def bytes_(self) -> NDArray[np.uint8]:
        """A writable view of exactly `nbytes` bytes. It stays valid, but unshared, after `free`."""
        return self._memory()[GUARD_BYTES : GUARD_BYTES + self.nbytes]

    @property
    def descriptor(self) -> int:
        """The memory's file descriptor, for handing it to a worker."""
        self._memory()
        return self._descriptor

    @property
    def freed(self) -> bool:
        """Whether `free` was called."""
        return self._whole is None

    def guards_intact(self) -> bool:
        """False once anything wrote outside the buffer; the worker is then replaced, for it may have done more."""
        self._memory()
        if not self._damaged:
            front_same = np.array_equal(self._front, _PATTERN[:GUARD_BYTES])
            self._damaged = not (front_same and np.array_equal(self._back, self._expected_back()))
            if self._damaged:
                self._distrust()
        return not self._damaged

    def free(self) -> None:
        """Give the memory back. A second call does nothing."""
        if self._whole is None:
            return
        self._forget(self)
        empty = np.empty(0, np.uint8)
        self._whole, self._front, self._back = None, empty, empty
        self._close()

    def _expected_back(self) -> NDArray[np.uint8]:
        return _PATTERN[self._phase : self._phase + len(self._back)]

    def _memory(self) -> NDArray[np.uint8]:
        if self._whole is None:
            raise ValueError("this buffer was freed")
        return self._whole


def _anonymous_memory(nbytes: int) -> int:
    """A descriptor of `nbytes` bytes that are really there: touching memory that is not would kill this process."""
    available = available_bytes()
    if nbytes > available:
        raise InputError(
            f"no memory for a buffer of {nbytes} bytes ({available} are available)",
            cure="free memory or take a smaller graph",
        )
    descriptor = os.memfd_create("winnow-buffer")
    try:
        os.posix_fallocate(descriptor, 0, nbytes)
    except OSError as error:
        os.close(descriptor)
        raise InputError(
            f"no memory for a buffer of {nbytes} bytes: {error.strerror}", cure="free memory or take a smaller graph"
        ) from None
    return descriptor
