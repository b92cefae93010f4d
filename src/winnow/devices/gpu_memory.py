"""Buffers of a GPU: device memory between guard zones, with a copy on the host that launches keep equal to it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

GUARD_BYTES = 64 * 1024
"""Bytes in front of a buffer, and behind it, that must not change. The multiple keeps the buffer's address aligned."""

_PATTERN = np.frombuffer(b"\xa5\xa5\xa5\xff" * (GUARD_BYTES // 4), np.uint8)


class Memory(Protocol):
    """What a buffer asks of its runtime."""

    def allocate(self, nbytes: int) -> int:
        """Address of new device memory."""
        ...

    def free(self, address: int) -> None: ...

    def upload(self, address: int, host: NDArray[np.uint8]) -> None: ...

    def download(self, address: int, host: NDArray[np.uint8]) -> None: ...


class StagedBuffer:
    """A `devices.device.Buffer`: `bytes_` is on the host; `upload` and `download` go before and after a launch."""

    def __init__(self, memory: Memory, nbytes: int) -> None:
        if nbytes < 0:
            raise ValueError(f"a buffer of {nbytes} bytes")
        self._memory = memory
        self._host = np.zeros(nbytes + 2 * GUARD_BYTES, np.uint8)
        self._host[:GUARD_BYTES] = _PATTERN
        self._host[GUARD_BYTES + nbytes :] = _PATTERN
        self._nbytes = nbytes
        self._start: int | None = memory.allocate(self._host.size)

    @property
    def bytes_(self) -> NDArray[np.uint8]:
        """A writable view of exactly the size asked for."""
        return self._host[GUARD_BYTES : GUARD_BYTES + self._nbytes]

    @property
    def address(self) -> int:
        """Where the buffer begins on the device."""
        return self._live() + GUARD_BYTES

    def upload(self) -> None:
        """Give the device what the host holds, guards included."""
        self._memory.upload(self._live(), self._host)

    def download(self) -> None:
        """Give the host what the device holds."""
        self._memory.download(self._live(), self._host)

    def guards_intact(self) -> bool:
        """False once a kernel wrote in front of the buffer or behind it."""
        front, back = self._host[:GUARD_BYTES], self._host[GUARD_BYTES + self._nbytes :]
        return bool(np.array_equal(front, _PATTERN) and np.array_equal(back, _PATTERN))

    def free(self) -> None:
        """Give the device memory back. A second time does nothing."""
        if self._start is not None:
            self._memory.free(self._start)
            self._start = None

    def _live(self) -> int:
        if self._start is None:
            raise ValueError("the buffer was freed")
        return self._start
