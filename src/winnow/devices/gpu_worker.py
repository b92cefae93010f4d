"""The worker of a GPU: it alone has the driver. Device memory is made equal to the shared memory around each launch.

A fault of the driver may have spoilt its context for good, so it ends this process, and the device starts another.
"""

from __future__ import annotations

import ctypes
import importlib
import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.devices.device import DeviceFault
from winnow.devices.gpu_driver import Driver, Launch
from winnow.devices.worker_operations import Message, answering, argument_bytes
from winnow.dtypes import OF_ARGUMENTS
from winnow.errors import InputError

_VALUES: Mapping[str, Any] = {
    "": ctypes.c_void_p,
    **{name: getattr(ctypes, row.ctypes) for name, row in OF_ARGUMENTS.items()},
}


@dataclass(frozen=True)
class _Kernel:
    """A loaded function; `arguments` are type and offset in the argument block of each, in order."""

    function: Any
    threads: int
    lds_bytes: int
    arguments: list[tuple[str, int]]


@dataclass(frozen=True)
class _Mapping:
    """A buffer, guards included: shared memory, and device memory that begins at `address`."""

    shared: NDArray[np.uint8]
    address: int
    guard: int


@dataclass
class _Holdings:
    """What the device has handed over so far, by its numbers."""

    driver: Driver
    kernels: dict[int, _Kernel] = field(default_factory=dict)
    mappings: dict[int, _Mapping] = field(default_factory=dict)


def start(driver: str) -> tuple[Message, Callable[[Message, int | None], Message]]:
    """Open the driver `module:class`; the first word is what it drives, or why it cannot."""
    module, _, name = driver.partition(":")
    try:
        held = _Holdings(getattr(importlib.import_module(module), name)())
        hello = {
            "arch": held.driver.arch,
            "identity": dict(held.driver.identity()),
            "launcher_gives_lds": held.driver.launcher_gives_lds,
        }
    except InputError as error:
        return {"error": error.message, "cure": error.cure}, answering({})
    except DeviceFault as fault:
        return {"error": f"the GPU cannot be used: {fault.detail}", "cure": None}, answering({})
    operations = {name: partial(_answered, operation, held) for name, operation in _OPERATIONS.items()}
    return hello, answering(operations)


def _answered(
    operation: Callable[[_Holdings, Message, int | None], Message],
    held: _Holdings,
    message: Message,
    descriptor: int | None,
) -> Message:
    try:
        return operation(held, message, descriptor)
    except DeviceFault as fault:
        return {"fault": fault.detail}


def _load(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    assert descriptor is not None
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        payload = file.read()
    try:
        function = held.driver.load(payload, message["symbol"], message["lds_bytes"])
    except DeviceFault as fault:
        if fault.kind != "load":
            raise
        return {"error": fault.detail}
    kernel = _Kernel(function, message["threads"], message["lds_bytes"], message["arguments"])
    held.kernels[message["module"]] = kernel
    return {}


def _map(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    assert descriptor is not None
    shared = np.frombuffer(mmap.mmap(descriptor, message["size"]), np.uint8)
    os.close(descriptor)
    try:
        address = held.driver.allocate(message["size"])
    except DeviceFault as fault:
        return {"error": fault.detail}
    held.mappings[message["buffer"]] = _Mapping(shared, address, message["guard"])
    return {}


def _unmap(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    held.driver.free(held.mappings.pop(message["buffer"]).address)
    return {}


def _launch(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    with _on_the_device(held, message) as launch:
        held.driver.run(launch)
    return {}


def _time(held: _Holdings, message: Message, descriptor: int | None) -> Message:
    """Single launches by the device's own clock. A reading that is not positive is no measurement."""
    limit_ns, max_launches = message["min_ns"], message["max_launches"]
    samples: list[int] = []
    launches = 0
    with _on_the_device(held, message) as launch:
        begin = perf_counter_ns()
        while not samples or (launches < max_launches and perf_counter_ns() - begin < limit_ns):
            nanoseconds = held.driver.timed(launch)
            launches += 1
            if nanoseconds > 0:
                samples.append(nanoseconds)
    return {"samples": samples}


@contextmanager
def _on_the_device(held: _Holdings, call: Message) -> Iterator[Launch]:
    """The launch that a message asks for; around it, what host and device hold of its buffers is made equal."""
    mappings = [held.mappings[number] for number in dict.fromkeys(number for _, number in call["pointers"])]
    for mapping in mappings:
        held.driver.upload(mapping.address, mapping.shared)
    yield _prepared(held, call)
    for mapping in mappings:
        held.driver.download(mapping.address, mapping.shared)


def _prepared(held: _Holdings, call: Message) -> Launch:
    kernel = held.kernels[call["module"]]
    block = argument_bytes(call, lambda number: held.mappings[number].address + held.mappings[number].guard)
    values = tuple(_VALUES[written].from_buffer_copy(block, offset) for written, offset in kernel.arguments)
    x, y, z = call["grid"]
    return Launch(kernel.function, (x, y, z), kernel.threads, kernel.lds_bytes, values)


_OPERATIONS = {"load": _load, "map": _map, "unmap": _unmap, "launch": _launch, "time": _time}
