"""The worker of the CPU device: shared objects, called on one thread. It imports the standard library only.

A kernel may crash, hang or exit here: that ends this process, and the device starts another.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import resource
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter_ns
from typing import Any

from winnow.devices.worker_operations import Message, answering, argument_bytes

_DEFAULT_ENVIRONMENT = ctypes.c_void_p(-1)  # FE_DFL_ENV
_ARGUMENT_TYPES = (ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32)


def start(cpu: str) -> tuple[Message, Callable[[Message, int | None], Message]]:
    """Run on one processor from now on, where that is allowed; the first word is whether it is."""
    gc.disable()
    # Every loaded object keeps a descriptor open.
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    held = _Holdings()
    operations = {name: partial(operation, held) for name, operation in _OPERATIONS.items()}
    return {"pinned": _pin(int(cpu))}, answering(operations)


def _pin(cpu: int) -> bool:
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return False
    return True


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
    raw = argument_bytes(message, lambda buffer: held.mappings[buffer].base)
    block = ctypes.create_string_buffer(raw, max(len(raw), 64))
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


_OPERATIONS = {"load": _load, "map": _map, "unmap": _unmap, "launch": _launch, "time": _time}
