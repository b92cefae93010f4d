"""A GPU as a device: objects that Triton made, in a worker that has the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from winnow.compilers.code_object import Argument
from winnow.compilers.triton import read_triton_object
from winnow.compilers.triton_types import NULL_POINTERS
from winnow.devices.running_worker import RunningWorker
from winnow.devices.worker_device import WorkerDevice, WorkerModule
from winnow.errors import InputError
from winnow.workers.process import Program

POLICY_VERSION = 2
"""Raise it when launches come to be timed differently: measurements before and after are not comparable."""


class GpuDevice(WorkerDevice):
    """A GPU as a `Device`. `driver` is the `module:class` of a `gpu_driver.Driver`, `name` the runtime's.

    Launches are timed by the device's own events. Not for use by several threads at once.

    Raises:
        InputError: the driver cannot be used on this machine.
    """

    def __init__(self, driver: str, *, name: str, timeout_s: float = 20.0) -> None:
        super().__init__(timeout_s=timeout_s)
        self._driver, self._name = driver, name
        self._hello = self._running().hello

    @property
    def arch(self) -> str:
        """The target id whose shard this device loads."""
        return str(self._hello["arch"])

    def fingerprint(self) -> Mapping[str, str | int]:
        """The device, its driver, and how launches are timed."""
        return {"arch": self.arch, **self._hello["identity"], "policy": POLICY_VERSION}

    def load(self, payload: bytes, symbol: str, signature: Sequence[Argument]) -> WorkerModule:
        """Load a code object into the worker.

        Raises:
            InputError: the object cannot be read, or takes other arguments than `signature` says.
            DeviceFault: "load" when the device refuses it or the worker ends of it; "timeout" when loading does not
                come to an end.
        """
        code = read_triton_object(payload, symbol)
        if code.signature != tuple(signature):
            raise InputError(f'kernel "{symbol}" takes other arguments than its descriptor says')
        facts = {
            "threads": code.resources["threads_per_block"],
            "lds_bytes": code.resources["lds_bytes"] if self._hello["launcher_gives_lds"] else 0,
            "arguments": [[argument.type, argument.offset] for argument in code.signature],
        }
        return self._loaded(payload, symbol, code.signature, facts, NULL_POINTERS)

    def _start(self) -> RunningWorker:
        return RunningWorker(self._name, Program("winnow.devices.gpu_worker", (self._driver,), codec="json"))
