"""What a device and its worker say to each other: JSON behind a length, over one socket, memory as descriptors.

The worker of the CPU device imports this and has the standard library only.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]

_HEADER = struct.Struct("<II")


def send(channel: socket.socket, message: Message, descriptor: int | None = None) -> None:
    """Send one message, and with it at most one file descriptor (the receiver gets its own copy)."""
    raw = json.dumps(message).encode()
    attached = [] if descriptor is None else [descriptor]
    socket.send_fds(channel, [_HEADER.pack(len(raw), len(attached))], attached)
    channel.sendall(raw)


def receive(channel: socket.socket) -> tuple[Message, int | None]:
    """The next message and the descriptor that came with it.

    Raises:
        EOFError: the other side is gone.
        ValueError: what arrives is not a message.
        TimeoutError: nothing arrived within the channel's time limit.
    """
    header, descriptors, _, _ = socket.recv_fds(channel, _HEADER.size, 1)
    length, count = _HEADER.unpack(header + _exactly(channel, _HEADER.size - len(header)))
    if count != len(descriptors):
        raise ValueError("a descriptor was lost on the way")
    message = json.loads(_exactly(channel, length))
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message, descriptors[0] if descriptors else None


def _exactly(channel: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = channel.recv(min(length - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def argument_bytes(call: Message, address: Callable[[int], int]) -> bytes:
    """The argument block of a call, with the address of each buffer where its pointer belongs."""
    block = bytearray.fromhex(call["block"])
    for offset, buffer in call["pointers"]:
        struct.pack_into("<Q", block, offset, address(buffer))
    return bytes(block)
