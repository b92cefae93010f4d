"""A GPU driver made of host memory, for a worker to import; `shift`, an argument of the kernel, says what it does."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from winnow.devices.device import DeviceFault
from winnow.devices.gpu_driver import Launch
from winnow.errors import InputError


class HostDriver:
    """Device memory as NumPy arrays; the only kernel is `product(x_ptr, y_ptr, shift, scale)` of `triton_samples`."""

    arch = "gfx950"
    launcher_gives_lds = False

    def __init__(self) -> None:
        self.blocks: dict[int, np.ndarray] = {}
        self.transfers: list[str] = []
        self.clock = iter([5_000, 0, 7_000, -1, *range(9_000, 99_000, 1_000)])

    def identity(self) -> Mapping[str, str | int]:
        return {"model": "host", "driver": 7}

    def allocate(self, nbytes: int) -> int:
        address = 1 << 20 if not self.blocks else max(self.blocks) + (1 << 20)
        self.blocks[address] = np.full(nbytes, 0x11, np.uint8)
        return address

    def free(self, address: int) -> None:
        del self.blocks[address]

    def upload(self, address: int, host: np.ndarray) -> None:
        self.transfers.append("up")
        self.blocks[address][:] = host

    def download(self, address: int, host: np.ndarray) -> None:
        self.transfers.append("down")
        host[:] = self.blocks[address]

    def at(self, address: int | None, nbytes: int) -> np.ndarray:
        assert address is not None
        start = max(start for start in self.blocks if start <= address)
        return self.blocks[start][address - start : address - start + nbytes]

    def text(self, address: int, text: str | None = None) -> str:
        """What a buffer of 512 bytes says; with `text`, after saying that."""
        memory = self.at(address, 512)
        if text is not None:
            memory[:] = np.frombuffer(text.encode().ljust(512, b"\0"), np.uint8)
        return memory.tobytes().rstrip(b"\0").decode()

    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> str:
        return f"{symbol} of {len(payload)} bytes, {lds_bytes} local"

    def run(self, launch: Launch) -> None:
        KERNELS[launch.arguments[2].value](self, launch)

    def timed(self, launch: Launch) -> int:
        self.run(launch)
        return next(self.clock)


def _double(driver: HostDriver, launch: Launch) -> None:
    x, y = launch.arguments[:2]
    driver.at(y.value, 16).view(np.float32)[:] = 2 * driver.at(x.value, 16).view(np.float32)


def _count(driver: HostDriver, launch: Launch) -> None:
    driver.at(launch.arguments[1].value, 4).view(np.int32)[:] += 1


def _report(driver: HostDriver, launch: Launch) -> None:
    """What was launched, and in which process, as JSON in y."""
    report = {
        "pid": os.getpid(),
        "blocks": len(driver.blocks),
        "transfers": driver.transfers,
        "function": launch.function,
        "launch": [launch.grid, launch.threads, launch.lds_bytes],
        "arguments": [[type(value).__name__, value.value] for value in launch.arguments],
    }
    driver.text(launch.arguments[1].value, json.dumps(report))


def _stray(offset: int) -> Callable[[HostDriver, Launch], None]:
    def kernel(driver: HostDriver, launch: Launch) -> None:
        driver.at(launch.arguments[1].value + offset, 1)[:] = 7

    return kernel


def _fault(driver: HostDriver, launch: Launch) -> None:
    _count(driver, launch)
    raise DeviceFault("crash", "illegal address")


def _hang(driver: HostDriver, launch: Launch) -> None:
    """Never return; the file that x names, if any, is there when it has begun."""
    _begin(driver, launch)
    while True:
        time.sleep(1)


def _hang_locked(driver: HostDriver, launch: Launch) -> None:
    """Never return, nor let any other thread of the interpreter run, as a native call may."""
    _begin(driver, launch)
    ctypes.PyDLL(None).sleep(600)


def _begin(driver: HostDriver, launch: Launch) -> None:
    marker = driver.text(launch.arguments[0].value)
    if marker:
        Path(marker).touch()


KERNELS: Mapping[int, Callable[[HostDriver, Launch], None]] = {
    -3: _report,
    -2: _stray(-1),
    -1: _stray(512),
    0: _double,
    1: _count,
    2: _fault,
    3: _hang,
    4: _hang_locked,
    5: lambda driver, launch: os.kill(os.getpid(), signal.SIGKILL),
    6: lambda driver, launch: os._exit(3),
    7: lambda driver, launch: os.abort(),
    8: lambda driver, launch: {}["a runtime's own error"],
}
REPORT, BEFORE, BEHIND, DOUBLE, COUNT, FAULT, HANG, HANG_LOCKED, KILLED, EXIT, ABORT, SURPRISE = KERNELS


class AskingDriver(HostDriver):
    """Local memory is asked for at the launch."""

    launcher_gives_lds = True


class RefusingDriver(HostDriver):
    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> str:
        raise DeviceFault("load", f"no image for this device (process {os.getpid()})")


class SpoiledDriver(HostDriver):
    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> str:
        raise DeviceFault("crash", "the context is gone")


class FatalDriver(HostDriver):
    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> str:
        os._exit(4)


class HangingDriver(HostDriver):
    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> str:
        while True:
            time.sleep(1)


class FullDriver(HostDriver):
    def allocate(self, nbytes: int) -> int:
        raise DeviceFault("crash", "out of memory")


class AbsentDriver(HostDriver):
    def __init__(self) -> None:
        raise InputError("no such GPU", cure="buy one")


class BrokenDriver(HostDriver):
    def identity(self) -> Mapping[str, str | int]:
        raise DeviceFault("crash", "no version")


class DyingDriver(HostDriver):
    def __init__(self) -> None:
        os.abort()
