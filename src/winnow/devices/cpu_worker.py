"""The process in which the CPU device's kernels run; started as a bare script, so it imports the standard library only.

A kernel may crash, hang or exit here: that ends this process, and the device starts another. Commands and replies
are JSON behind a length, over one socket; memory and objects arrive as descriptors. It never outlives its parent.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import gc
import json
import mmap
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

Message = dict[str, Any]

_HEADER = struct.Struct("<II")
_DEFAULT_ENVIRONMENT = ctypes.c_void_p(-1)  # FE_DFL_ENV
_ARGUMENT_TYPES = (ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32)


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


def _math_library() -> Any:
    library = ctypes.CDLL("libm.so.6")
    library.fesetenv.argtypes = (ctypes.c_void_p,)
    return library


@dataclass(frozen=True)
class _Mapping:
    """A buffer in this process; `base` is the address of its first byte behind the guard."""

    memory: mmap.mmap
    base: int


@dataclass
class _Holdings:
    """What the device has handed over so far, by its numbers."""

    math: Any = field(default_factory=_math_library)
    functions: dict[int, Any] = field(default_factory=dict)
    mappings: dict[int, _Mapping] = field(default_factory=dict)


def _load(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    """The descriptor stays open for good: the loader knows a library by its path, and would take a second object
    under the same number for the first one."""
    try:
        library = ctypes.CDLL(f"/proc/self/fd/{descriptor}", mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        return {"error": str(error).removeprefix(f"/proc/self/fd/{descriptor}: ")}
    try:
        function = library[message["symbol"]]
    except AttributeError:
        return {"error": f'the object does not export "{message["symbol"]}"'}
    function.argtypes = _ARGUMENT_TYPES
    function.restype = None
    held.functions[message["module"]] = function
    return {}


def _map(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    assert descriptor is not None
    # Populated at once, so that no page fault falls into a measurement.
    memory = mmap.mmap(descriptor, message["size"], flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
    os.close(descriptor)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    held.mappings[message["buffer"]] = _Mapping(memory, address + message["guard"])
    return {}


def _unmap(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    held.mappings.pop(message["buffer"]).memory.close()
    return {}


@dataclass(frozen=True)
class _Call:
    """A function and its arguments, all converted beforehand. `block` is what the first argument points to."""

    function: Any
    block: Any
    arguments: tuple[Any, ...]


def _prepare(held: _Holdings, message: Message) -> _Call:
    raw = bytearray.fromhex(message["block"])
    for offset, buffer in message["pointers"]:
        struct.pack_into("<Q", raw, offset, held.mappings[buffer].base)
    block = ctypes.create_string_buffer(bytes(raw), max(len(raw), 64))
    # Not ctypes.cast, which makes a reference cycle each time; there is no collector here to find it.
    pointer = ctypes.c_void_p(ctypes.addressof(block))
    grid = (ctypes.c_int32(extent) for extent in message["grid"])
    return _Call(held.functions[message["module"]], block, (pointer, *grid))


def _reset_floating_point(held: _Holdings) -> None:
    """Default rounding and denormals: a kernel that changed them must not change what the next one computes."""
    held.math.fesetenv(_DEFAULT_ENVIRONMENT)


def _launch(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    call = _prepare(held, message)
    _reset_floating_point(held)
    call.function(*call.arguments)
    return {}


def _time(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    """Single launches, each between two readings of the clock. A reading that is not positive is no measurement."""
    call = _prepare(held, message)
    function, (block, x, y, z) = call.function, call.arguments
    limit_ns, max_launches = message["min_ns"], message["max_launches"]
    samples: list[int] = []
    launches = 0
    _reset_floating_point(held)
    begin = perf_counter_ns()
    while True:
        start = perf_counter_ns()
        function(block, x, y, z)
        end = perf_counter_ns()
        launches += 1
        if end > start:
            samples.append(end - start)
        if samples and (launches >= max_launches or end - begin >= limit_ns):
            return {"samples": samples}


_OPERATIONS: dict[str, Callable[[_Holdings, Message, int | None], Message]] = {
    "load": _load,
    "map": _map,
    "unmap": _unmap,
    "launch": _launch,
    "time": _time,
}


def _end_with(channel: socket.socket, parent: int) -> None:
    """Wait for the parent's end, in a thread, so that it also ends a kernel that never returns.

    The socket alone would not do: a process that the parent forked may hold its other end open.
    """
    poll = select.poll()
    poll.register(channel, select.POLLRDHUP)
    with contextlib.suppress(OSError):  # before Linux 5.3 there is only the socket
        poll.register(os.pidfd_open(parent), select.POLLIN)
    poll.poll()
    os.kill(os.getpid(), signal.SIGKILL)


def _pin(cpu: int) -> bool:
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return False
    return True


def main(channel: socket.socket, parent: int, cpu: int) -> None:
    """Serve commands until the parent closes the channel or ends."""
    # Ctrl-C goes to the whole foreground group; the parent decides what becomes of this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    gc.disable()
    pinned = _pin(cpu)
    _thread.start_new_thread(_end_with, (channel, parent))
    if os.getppid() != parent:
        return
    send(channel, {"pinned": pinned})
    held = _Holdings()
    while True:
        try:
            message, descriptor = receive(channel)
        except EOFError:
            return
        send(channel, _OPERATIONS[message["op"]](held, message, descriptor))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]))
