"""What all devices have in common: kernels run in a worker, and after a fault another one gets what it needs."""

from __future__ import annotations

import contextlib
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from weakref import WeakSet

from winnow.compilers.code_object import Argument
from winnow.devices.argument_block import checked_grid, pack_arguments
from winnow.devices.device import DeviceFault, Grid, Module
from winnow.devices.guarded_memory import GUARD_BYTES, GuardedBuffer
from winnow.devices.running_worker import RunningWorker
from winnow.devices.worker_operations import Message
from winnow.errors import InputError


@dataclass(frozen=True, eq=False)
class WorkerModule:
    """A code object that was loaded once; a worker that does not hold it yet gets it at the next launch.

    `facts` is what a worker has to know besides the symbol; `nulls` are pointers that a launch need not name.
    """

    number: int
    payload: bytes
    symbol: str
    signature: tuple[Argument, ...]
    facts: Message = field(default_factory=dict)
    nulls: Sequence[str] = ()


class WorkerDevice(ABC):
    """A `Device` whose kernels run in a worker. `timeout_s` is the time limit of one launch in seconds.

    Not for use by several threads at once.
    """

    def __init__(self, *, timeout_s: float) -> None:
        if timeout_s <= 0:
            raise ValueError(f"a time limit of {timeout_s} s")
        self._timeout_s = timeout_s
        self._numbers = itertools.count()
        self._modules: WeakSet[WorkerModule] = WeakSet()
        self._buffers: WeakSet[GuardedBuffer] = WeakSet()
        self._worker: RunningWorker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    @abstractmethod
    def arch(self) -> str:
        """The target id whose shard this device loads."""

    @abstractmethod
    def fingerprint(self) -> Mapping[str, str | int]:
        """What must be equal for two measurements to be comparable."""

    @abstractmethod
    def load(self, payload: bytes, symbol: str, signature: Sequence[Argument]) -> WorkerModule:
        """Load a code object into the worker."""

    @abstractmethod
    def _start(self) -> RunningWorker:
        """A new worker."""

    def allocate(self, nbytes: int) -> GuardedBuffer:
        """Zeroed memory between guards.

        Raises:
            InputError: the device lacks that much memory.
        """
        buffer = GuardedBuffer(next(self._numbers), nbytes, self._forget, self.close)
        self._buffers.add(buffer)
        return buffer

    def launch(self, module: Module, arguments: Mapping[str, Any], grid: Grid) -> None:
        """Run once and wait.

        Raises:
            InputError: an argument or the grid does not fit the signature, or the device has no memory for a buffer;
                nothing ran.
            DeviceFault: "crash" or "timeout"; the next launch gets a new worker.
        """
        self._run(module, arguments, grid, {"op": "launch"}, self._timeout_s)

    def time(
        self, module: Module, arguments: Mapping[str, Any], grid: Grid, *, min_seconds: float, max_launches: int
    ) -> tuple[int, ...]:
        """Nanoseconds of single launches, in order, all positive, by the clock that the worker has.

        A reading of zero or less is dropped (its launch still counts towards `max_launches`). The first launch is
        measured like the others, so launch once before. Raises as `launch`; a launch that runs over the time limit
        after `min_seconds` is a timeout.
        """
        if max_launches < 1 or min_seconds < 0:
            raise ValueError(f"min_seconds={min_seconds}, max_launches={max_launches}")
        command = {"op": "time", "min_ns": round(min_seconds * 1e9), "max_launches": max_launches}
        reply = self._run(module, arguments, grid, command, self._timeout_s + min_seconds)
        return tuple(reply["samples"])

    def close(self) -> None:
        """End the worker. Buffers keep their contents, and a later call starts a new worker."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def _loaded(
        self, payload: bytes, symbol: str, signature: Sequence[Argument], facts: Message, nulls: Sequence[str] = ()
    ) -> WorkerModule:
        module = WorkerModule(next(self._numbers), payload, symbol, tuple(signature), facts, nulls)
        self._hand_over_module(self._running(), module)
        self._modules.add(module)
        return module

    def _run(
        self, module: Module, arguments: Mapping[str, Any], grid: Grid, command: Message, limit_s: float
    ) -> Message:
        if not isinstance(module, WorkerModule) or module not in self._modules:
            raise TypeError(f"a {type(module).__name__} is not a module of this device")
        block = pack_arguments(module.symbol, module.signature, arguments, self._buffers, module.nulls)
        extents = checked_grid(module.symbol, grid)
        worker = self._running()
        self._hand_over_module(worker, module)
        for _, buffer in block.pointers:
            self._hand_over_buffer(worker, buffer)
        pointers = [[offset, buffer.number] for offset, buffer in block.pointers]
        call = {"module": module.number, "block": block.data.hex(), "pointers": pointers, "grid": extents}
        return worker.request(command | call, limit_s)

    def _running(self) -> RunningWorker:
        if self._worker is not None and not self._worker.alive():
            self.close()
        if self._worker is None:
            self._worker = self._start()
        return self._worker

    def _hand_over_module(self, worker: RunningWorker, module: WorkerModule) -> None:
        if module.number in worker.modules:
            return
        with os.fdopen(os.memfd_create("winnow-kernel"), "wb") as file:
            file.write(module.payload)
            file.flush()
            request = {"op": "load", "module": module.number, "symbol": module.symbol, **module.facts}
            try:
                reply = worker.request(request, self._timeout_s, file.fileno())
            except DeviceFault as fault:
                raise DeviceFault("timeout" if fault.kind == "timeout" else "load", fault.detail) from None
        if "error" in reply:
            raise DeviceFault("load", reply["error"])
        worker.modules.add(module.number)

    def _hand_over_buffer(self, worker: RunningWorker, buffer: GuardedBuffer) -> None:
        if buffer.number in worker.buffers:
            return
        request = {"op": "map", "buffer": buffer.number, "size": buffer.total_bytes, "guard": GUARD_BYTES}
        reply = worker.request(request, self._timeout_s, buffer.descriptor)
        if "error" in reply:
            raise InputError(
                f"no memory on the device for a buffer of {buffer.total_bytes} bytes: {reply['error']}",
                cure="free memory or take a smaller graph",
            )
        worker.buffers.add(buffer.number)

    def _forget(self, buffer: GuardedBuffer) -> None:
        worker = self._worker
        if worker is None or not worker.alive() or buffer.number not in worker.buffers:
            return
        worker.buffers.discard(buffer.number)
        with contextlib.suppress(DeviceFault):  # then the worker has ended, and its memory with it
            worker.request({"op": "unmap", "buffer": buffer.number}, self._timeout_s)
