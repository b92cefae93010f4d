"""The device that everyone has: C kernels on one thread of this machine's CPU, in a process of their own."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from winnow.compilers.code_object import Argument
from winnow.compilers.layout import argument_layout, parameters_of
from winnow.devices.argument_block import checked_grid, pack_arguments
from winnow.devices.cpu_identity import CpuClaim, fingerprint
from winnow.devices.cpu_memory import GUARD_BYTES, GuardedBuffer
from winnow.devices.cpu_worker import Message
from winnow.devices.device import Buffer, DeviceFault, Grid, Module
from winnow.devices.worker_process import WorkerProcess
from winnow.errors import InputError
from winnow.targets.cpu import host_level


@dataclass(frozen=True, eq=False)
class CpuModule:
    """A code object that was loaded once; a worker that does not hold it yet gets it at the next launch."""

    number: int
    payload: bytes
    symbol: str
    signature: tuple[Argument, ...]


class CpuDevice:
    """The host's CPU as a `Device`. `timeout_s` is the time limit of one launch in seconds.

    Not for use by several threads at once.
    """

    def __init__(self, *, timeout_s: float = 20.0) -> None:
        if timeout_s <= 0:
            raise ValueError(f"a time limit of {timeout_s} s")
        self._arch = host_level()
        self._claim: CpuClaim | None = None
        self._timeout_s = timeout_s
        self._numbers = itertools.count()
        self._worker: WorkerProcess | None = None

    def __enter__(self) -> CpuDevice:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def arch(self) -> str:
        """The highest x86-64 level that this machine runs."""
        return self._arch

    def fingerprint(self) -> Mapping[str, str | int]:
        """See `cpu_identity.fingerprint`. Starts the worker, which knows whether it could be pinned."""
        worker = self._running()
        return fingerprint(self._arch, worker.cpu, worker.pinned)

    def allocate(self, nbytes: int) -> GuardedBuffer:
        """Zeroed memory between guards.

        Raises:
            InputError: there is not that much memory.
        """
        return GuardedBuffer(next(self._numbers), nbytes, self._forget, self.close)

    def load(self, payload: bytes, symbol: str, signature: Sequence[Argument]) -> CpuModule:
        """Load a shared object into the worker.

        Raises:
            InputError: the signature does not lie in memory as its types require.
            DeviceFault: "load" when the object cannot be loaded, lacks the symbol or ends the worker; "timeout"
                when loading does not come to an end.
        """
        if argument_layout(parameters_of(signature)) != tuple(signature):
            raise InputError(
                f'kernel "{symbol}": its arguments do not lie as their types require', cure="pack the catalog again"
            )
        module = CpuModule(next(self._numbers), payload, symbol, tuple(signature))
        self._hand_over_module(self._running(), module)
        return module

    def launch(self, module: Module, arguments: Mapping[str, Any], grid: Grid) -> None:
        """Run once and wait.

        Raises:
            InputError: an argument or the grid does not fit the signature; nothing ran.
            DeviceFault: "crash" or "timeout"; the next launch gets a new worker.
        """
        self._run(module, arguments, grid, {"op": "launch"}, self._timeout_s)

    def time(
        self, module: Module, arguments: Mapping[str, Any], grid: Grid, *, min_seconds: float, max_launches: int
    ) -> tuple[int, ...]:
        """Nanoseconds of single launches, in order, all positive: the clock is read around each call in the worker.

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
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _run(
        self, module: Module, arguments: Mapping[str, Any], grid: Grid, command: Message, limit_s: float
    ) -> Message:
        if not isinstance(module, CpuModule):
            raise TypeError(f"a {type(module).__name__} is not a module of the CPU device")
        block = pack_arguments(module.symbol, module.signature, arguments)
        extents = checked_grid(module.symbol, grid)
        worker = self._running()
        self._hand_over_module(worker, module)
        for _, buffer in block.pointers:
            self._hand_over_buffer(worker, buffer)
        pointers = [[offset, buffer.number] for offset, buffer in block.pointers]
        call = {"module": module.number, "block": block.data.hex(), "pointers": pointers, "grid": extents}
        return worker.request(command | call, limit_s)

    def _running(self) -> WorkerProcess:
        if self._worker is not None and not self._worker.alive():
            self.close()
        if self._worker is None:
            self._claim = self._claim or CpuClaim()
            self._worker = WorkerProcess(self._claim.cpu)
        return self._worker

    def _hand_over_module(self, worker: WorkerProcess, module: CpuModule) -> None:
        if module.number in worker.modules:
            return
        with os.fdopen(os.memfd_create("winnow-kernel"), "wb") as file:
            file.write(module.payload)
            file.flush()
            request = {"op": "load", "module": module.number, "symbol": module.symbol}
            try:
                reply = worker.request(request, self._timeout_s, file.fileno())
            except DeviceFault as fault:
                raise DeviceFault("timeout" if fault.kind == "timeout" else "load", fault.detail) from None
        if "error" in reply:
            raise DeviceFault("load", reply["error"])
        worker.modules.add(module.number)

    def _hand_over_buffer(self, worker: WorkerProcess, buffer: GuardedBuffer) -> None:
        if buffer.number in worker.buffers:
            return
        request = {"op": "map", "buffer": buffer.number, "size": buffer.total_bytes, "guard": GUARD_BYTES}
        worker.request(request, self._timeout_s, buffer.descriptor)
        worker.buffers.add(buffer.number)

    def _forget(self, buffer: Buffer) -> None:
        worker = self._worker
        if worker is None or not worker.alive():
            return
        if not isinstance(buffer, GuardedBuffer) or buffer.number not in worker.buffers:
            return
        worker.buffers.discard(buffer.number)
        with contextlib.suppress(DeviceFault):  # then the worker has ended, and its memory with it
            worker.request({"op": "unmap", "buffer": buffer.number}, self._timeout_s)
