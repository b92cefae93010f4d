"""Messages between a process and its worker: numbered, over one socket, memory as descriptors.

A worker imports this with the standard library alone.
"""

from __future__ import annotations

import json
import pickle
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_HEAD = struct.Struct("<HH")
_LENGTH = struct.Struct("<Q")
_PIECE_BYTES = 1 << 20
NUMBERS = 1 << 16
"""Numbers of messages are counted modulo this."""


@dataclass(frozen=True)
class Codec:
    """How a message is written as bytes."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


CODECS: Mapping[str, Codec] = {
    # Kernels may write anywhere, the channel included; JSON that they spoilt does nothing but fail to parse.
    "json": Codec(lambda message: json.dumps(message).encode(), json.loads),
    "pickle": Codec(pickle.dumps, pickle.loads),
}


@dataclass(frozen=True)
class Received:
    """A message with its number, and the descriptor that came with it."""

    number: int
    message: Any
    descriptor: int | None


class Channel:
    """One end of the conversation."""

    def __init__(self, connection: socket.socket, codec: str) -> None:
        self.socket = connection
        self.deadline: float | None = None
        """When a message has to be whole, by the monotonic clock; without, however long it takes."""
        self._codec = CODECS[codec]

    def send(self, number: int, message: Any, descriptor: int | None = None) -> None:
        """Send one message, and with it at most one file descriptor (the receiver gets its own copy)."""
        raw = self._codec.encode(message)
        self._wait_no_longer()
        attached = [] if descriptor is None else [descriptor]
        head = _HEAD.pack(number, len(attached))
        socket.send_fds(self.socket, [head], attached)
        self.socket.sendall(_LENGTH.pack(len(raw)))
        self.socket.sendall(raw)

    def receive(self) -> Received:
        """The next message.

        Raises:
            EOFError: the other side is gone.
            ValueError: what arrives is not a message.
            TimeoutError: it was not whole before the deadline.
        """
        self._wait_no_longer()
        head, descriptors, _, _ = socket.recv_fds(self.socket, _HEAD.size, 1)
        number, count = _HEAD.unpack(head + self._exactly(_HEAD.size - len(head)))
        if count != len(descriptors):
            raise ValueError("a descriptor was lost on the way")
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        raw = self._exactly(length)
        try:
            message = self._codec.decode(raw)
        except Exception as error:
            raise ValueError(f"not a message: {error!r}") from error
        return Received(number, message, descriptors[0] if descriptors else None)

    def _wait_no_longer(self) -> None:
        if self.deadline is not None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.socket.settimeout(left)

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._wait_no_longer()
            part = self.socket.recv(min(length - len(data), _PIECE_BYTES))
            if not part:
                raise EOFError
            data += part
        return bytes(data)
