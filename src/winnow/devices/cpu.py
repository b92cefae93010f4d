"""The device that everyone has: C kernels on one thread of this machine's CPU, in a process of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from winnow.compilers.code_object import Argument
from winnow.compilers.layout import argument_layout, parameters_of
from winnow.devices.cpu_identity import CpuClaim, fingerprint
from winnow.devices.running_worker import RunningWorker
from winnow.devices.worker_device import WorkerDevice, WorkerModule
from winnow.errors import InputError
from winnow.targets.cpu import host_level
from winnow.workers.process import Program


class CpuDevice(WorkerDevice):
    """The host's CPU as a `Device`. `timeout_s` is the time limit of one launch in seconds.

    Launches are timed by the worker's clock, read around each call. Not for use by several threads at once.
    """

    def __init__(self, *, timeout_s: float = 20.0) -> None:
        super().__init__(timeout_s=timeout_s)
        self._arch = host_level()
        self._claim: CpuClaim | None = None

    @property
    def arch(self) -> str:
        """The highest x86-64 level that this machine runs."""
        return self._arch

    def fingerprint(self) -> Mapping[str, str | int]:
        """See `cpu_identity.fingerprint`. Starts the worker, which knows whether it could be pinned."""
        worker = self._running()
        return fingerprint(self._arch, self._claimed().cpu, bool(worker.hello["pinned"]))

    def load(self, payload: bytes, symbol: str, signature: Sequence[Argument]) -> WorkerModule:
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
        return self._loaded(payload, symbol, signature, {})

    def close(self) -> None:
        """End the worker and leave its processor to others. Buffers keep their contents, and a later call starts a
        new worker."""
        super().close()
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _start(self) -> RunningWorker:
        processor = str(self._claimed().cpu)
        return RunningWorker("CPU", Program("winnow.devices.cpu_worker", (processor,), codec="json", isolated=True))

    def _claimed(self) -> CpuClaim:
        self._claim = self._claim or CpuClaim()
        return self._claim
