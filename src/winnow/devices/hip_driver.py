"""AMD GPUs through hip-python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.devices.device import DeviceFault
from winnow.devices.gpu_driver import Launch
from winnow.errors import InputError
from winnow.targets.arches import arch_facts

_INSTALL = "install it: pip install 'winnow-kernels[hip]'"
_DRIVER = "the device hip needs an AMD GPU with ROCm's libamdhip64.so (check with rocminfo)"


class HipDriver:
    """The calls of hip-python that a worker makes, on the first AMD GPU of this machine.

    Raises:
        InputError: no package, no driver or no GPU, or one that Winnow does not know.
    """

    launcher_gives_lds = False

    def __init__(self) -> None:
        try:
            from hip import hip
        except ImportError as error:
            raise InputError(f"the device hip needs the Python package hip-python: {error}", cure=_INSTALL) from error
        self._hip: Any = hip
        try:
            count = self._checked(self._hip.hipGetDeviceCount())
        except (RuntimeError, DeviceFault) as error:
            # hip-python loads ROCm's library at the first call, and raises RuntimeError where there is none.
            raise InputError(f"no AMD GPU can be used: {error}", cure=_DRIVER) from error
        if not count:
            raise InputError("no AMD GPU can be used: ROCm finds none", cure=_DRIVER)
        self._checked(self._hip.hipSetDevice(0))
        self._properties: Any = self._hip.hipDeviceProp_t()
        self._checked(self._hip.hipGetDeviceProperties(self._properties, 0))
        self.arch: str = self._properties.gcnArchName.decode().partition(":")[0]
        arch_facts(self.arch)

    def identity(self) -> Mapping[str, str | int]:
        return {
            "model": self._properties.name.decode(),
            "runtime": "hip",
            "driver": int(self._checked(self._hip.hipRuntimeGetVersion())),
            "compute_units": int(self._properties.multiProcessorCount),
        }

    def allocate(self, nbytes: int) -> int:
        return int(self._checked(self._hip.hipMalloc(nbytes)))

    def free(self, address: int) -> None:
        self._checked(self._hip.hipFree(address))

    def upload(self, address: int, host: NDArray[np.uint8]) -> None:
        kind = self._hip.hipMemcpyKind.hipMemcpyHostToDevice
        self._checked(self._hip.hipMemcpy(address, host, host.nbytes, kind))

    def download(self, address: int, host: NDArray[np.uint8]) -> None:
        kind = self._hip.hipMemcpyKind.hipMemcpyDeviceToHost
        self._checked(self._hip.hipMemcpy(host, address, host.nbytes, kind))

    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> Any:
        try:
            module = self._checked(self._hip.hipModuleLoadData(payload))
            function = self._checked(self._hip.hipModuleGetFunction(module, symbol.encode()))
        except DeviceFault as fault:
            raise DeviceFault("load", fault.detail) from None
        # The module must live as long as its function.
        return module, function

    def run(self, launch: Launch) -> None:
        self._launched(launch)
        self._checked(self._hip.hipDeviceSynchronize())

    def timed(self, launch: Launch) -> int:
        start, end = self._checked(self._hip.hipEventCreate()), self._checked(self._hip.hipEventCreate())
        try:
            self._checked(self._hip.hipEventRecord(start, None))
            self._launched(launch)
            self._checked(self._hip.hipEventRecord(end, None))
            self._checked(self._hip.hipEventSynchronize(end))
            milliseconds: float = self._checked(self._hip.hipEventElapsedTime(start, end))
            return round(milliseconds * 1e6)
        finally:
            for event in (start, end):
                self._checked(self._hip.hipEventDestroy(event))

    def _launched(self, launch: Launch) -> None:
        _, function = launch.function
        self._checked(
            self._hip.hipModuleLaunchKernel(
                function,
                *launch.grid,
                launch.threads,
                1,
                1,
                sharedMemBytes=launch.lds_bytes,
                stream=None,
                kernelParams=None,
                extra=launch.arguments,
            )
        )

    def _checked(self, answer: Any) -> Any:
        status, *values = answer if isinstance(answer, tuple) else (answer,)
        if status != self._hip.hipError_t.hipSuccess:
            raise DeviceFault("crash", str(status))
        return values[0] if values else None
