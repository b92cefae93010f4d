"""What the workers of devices have in common. The CPU's imports this with the standard library alone."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

Message = dict[str, Any]

Operations = Mapping[str, Callable[[Message, int | None], Message]]
"""What a worker can be asked for. A reply with the key "fault" is its last one: the device starts another worker."""


def answering(operations: Operations) -> Callable[[Message, int | None], Message]:
    """The answer to a message is that of the operation that it names."""
    return lambda message, descriptor: operations[message["op"]](message, descriptor)


def argument_bytes(call: Message, address: Callable[[int], int]) -> bytes:
    """The argument block of a call, with the address of each buffer where its pointer belongs."""
    block = bytearray.fromhex(call["block"])
    for offset, buffer in call["pointers"]:
        struct.pack_into("<Q", block, offset, address(buffer))
    return bytes(block)
