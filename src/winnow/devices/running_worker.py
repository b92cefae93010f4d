"""A device's worker while it runs, and what it holds: its faults are the device's."""

from __future__ import annotations

from winnow.devices.device import DeviceFault
from winnow.devices.worker_operations import Message
from winnow.errors import InputError
from winnow.workers.process import Program, Worker, WorkerFault

_SAID_CHARACTERS = 400


class RunningWorker:
    """`modules` and `buffers` are the numbers of what it holds; a new worker holds nothing.

    `hello` is what it says of its device. `device` is the device's name for errors.

    Raises:
        InputError: it does not start, or says that it cannot work.
    """

    def __init__(self, device: str, program: Program) -> None:
        self.modules: set[int] = set()
        self.buffers: set[int] = set()
        try:
            self._worker = Worker(program)
        except WorkerFault as fault:
            raise InputError(f"the {device} device's worker does not start: {_detail(fault)}") from None
        self.hello: Message = self._worker.hello
        if "error" in self.hello:
            self.end()
            raise InputError(self.hello["error"], cure=self.hello["cure"])

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._worker.alive()

    def request(self, message: Message, limit_s: float, descriptor: int | None = None) -> Message:
        """Its reply. After any exception the worker has ended.

        Raises:
            DeviceFault: it ended or met a fault that it cannot go on after ("crash"), or did not answer within
                `limit_s` seconds ("timeout").
        """
        try:
            reply: Message = self._worker.request(message, limit_s, descriptor)
        except WorkerFault as fault:
            if fault.kind == "timeout":
                raise DeviceFault("timeout", f"no answer within {limit_s:g} s, so the worker was ended") from None
            raise DeviceFault("crash", _detail(fault)) from None
        if "fault" in reply:
            self.end()
            raise DeviceFault("crash", reply["fault"])
        return reply

    def end(self) -> None:
        """End the worker, whatever it is doing. A second call does nothing."""
        self._worker.end()


def _detail(fault: WorkerFault) -> str:
    said = " ".join(fault.said.split())[-_SAID_CHARACTERS:]
    return f"the worker {fault.cause}" + (f"; it wrote: {said}" if said else "")
