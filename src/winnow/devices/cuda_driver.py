"""NVIDIA GPUs through cuda-core."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.devices.device import DeviceFault
from winnow.devices.gpu_driver import Launch
from winnow.errors import InputError
from winnow.targets.arches import arch_facts

_INSTALL = "install it: pip install 'winnow-kernels[cuda]'"
_DRIVER = "the device cuda needs an NVIDIA GPU with its driver (check with nvidia-smi)"


class CudaDriver:
    """The calls of cuda-core that a worker makes, on the first NVIDIA GPU of this machine.

    Raises:
        InputError: no package, no driver or no GPU, or one that Winnow does not know.
    """

    launcher_gives_lds = True

    def __init__(self) -> None:
        try:
            import cuda.core as core
            from cuda.bindings import driver
        except ImportError as error:
            raise InputError(f"the device cuda needs the Python package cuda-core: {error}", cure=_INSTALL) from error
        self._core: Any = core
        self._calls: Any = driver
        try:
            self._device: Any = self._core.Device(0)
            self._device.set_current()
        except Exception as error:
            # cuda-core raises types of its own where the driver's library is missing.
            raise InputError(f"no NVIDIA GPU can be used: {_first_line(error)}", cure=_DRIVER) from error
        self._stream: Any = self._device.create_stream()
        major, minor = self._device.compute_capability
        self.arch = f"sm_{major}{minor}"
        arch_facts(self.arch)

    def identity(self) -> Mapping[str, str | int]:
        version = self._checked(self._calls.cuDriverGetVersion())
        return {"model": str(self._device.name), "runtime": "cuda", "driver": int(version)}

    def allocate(self, nbytes: int) -> int:
        return int(self._checked(self._calls.cuMemAlloc(nbytes)))

    def free(self, address: int) -> None:
        self._checked(self._calls.cuMemFree(address))

    def upload(self, address: int, host: NDArray[np.uint8]) -> None:
        self._checked(self._calls.cuMemcpyHtoD(address, host.ctypes.data, host.nbytes))

    def download(self, address: int, host: NDArray[np.uint8]) -> None:
        self._checked(self._calls.cuMemcpyDtoH(host.ctypes.data, address, host.nbytes))

    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> Any:
        try:
            kernel = self._core.ObjectCode.from_cubin(payload).get_kernel(symbol)
            kernel.attributes.max_dynamic_shared_size_bytes = lds_bytes
        except Exception as error:
            raise DeviceFault("load", _first_line(error)) from error
        return kernel

    def run(self, launch: Launch) -> None:
        self._launched(launch, (), ())

    def timed(self, launch: Launch) -> int:
        options = self._core.EventOptions(timing_enabled=True)
        start, end = self._device.create_event(options), self._device.create_event(options)
        self._launched(launch, (start,), (end,))
        milliseconds: float = end - start
        return round(milliseconds * 1e6)

    def _launched(self, launch: Launch, before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        config = self._core.LaunchConfig(grid=launch.grid, block=(launch.threads, 1, 1), shmem_size=launch.lds_bytes)
        # cuda-core takes a pointer as an integer, and NumPy's numbers by their type.
        values = [_plain(value) for value in launch.arguments]
        try:
            for event in before:
                self._stream.record(event)
            self._core.launch(self._stream, config, launch.function, *values)
            for event in after:
                self._stream.record(event)
            self._stream.sync()
        except Exception as error:
            raise DeviceFault("crash", _first_line(error)) from error

    def _checked(self, answer: tuple[Any, ...]) -> Any:
        status, *values = answer
        if status != self._calls.CUresult.CUDA_SUCCESS:
            raise DeviceFault("crash", str(status))
        return values[0] if values else None


_NUMBERS: Mapping[Any, Any] = {ctypes.c_int32: np.int32, ctypes.c_int64: np.int64, ctypes.c_float: np.float32}


def _plain(value: Any) -> Any:
    return int(value.value or 0) if isinstance(value, ctypes.c_void_p) else _NUMBERS[type(value)](value.value)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
