"""GPUs: what launches do to memory and arguments, over a driver made of host memory; and machines without a GPU."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from triton_samples import product

from winnow.compilers.code_object import CodeObject
from winnow.compilers.triton import compile_triton, find_triton
from winnow.devices.device import DeviceFault
from winnow.devices.find import open_device
from winnow.devices.gpu import GpuDevice, Launch
from winnow.errors import InputError


class HostDriver:
    """Device memory as NumPy arrays; a kernel is a Python function of the driver and its launch."""

    arch = "gfx950"

    def __init__(self, kernel: Callable[[HostDriver, Launch], None], gives_lds: bool = False) -> None:
        self.launcher_gives_lds = gives_lds
        self.kernel = kernel
        self.blocks: dict[int, np.ndarray] = {}
        self.launches: list[Launch] = []
        self.clock = iter([5_000, 0, 7_000, 9_000, 11_000, 13_000])

    def identity(self) -> Mapping[str, str | int]:
        return {"model": "host"}

    def allocate(self, nbytes: int) -> int:
        address = 1 << 20 if not self.blocks else max(self.blocks) + (1 << 20)
        self.blocks[address] = np.full(nbytes, 0x11, np.uint8)
        return address

    def free(self, address: int) -> None:
        del self.blocks[address]

    def upload(self, address: int, host: np.ndarray) -> None:
        self.blocks[address][:] = host

    def download(self, address: int, host: np.ndarray) -> None:
        host[:] = self.blocks[address]

    def at(self, address: int | None, nbytes: int) -> np.ndarray:
        assert address is not None
        start = max(start for start in self.blocks if start <= address)
        return self.blocks[start][address - start : address - start + nbytes]

    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> str:
        return symbol

    def run(self, launch: Launch) -> None:
        self.launches.append(launch)
        self.kernel(self, launch)

    def timed(self, launch: Launch) -> int:
        self.run(launch)
        return next(self.clock)

    def close(self) -> None:
        self.blocks.clear()


@pytest.fixture(scope="module")
def code() -> CodeObject:
    return compile_triton(product(), "gfx950", find_triton())


def doubling(driver: HostDriver, launch: Launch) -> None:
    x, y = launch.arguments[:2]
    driver.at(y.value, 16).view(np.float32)[:] = 2 * driver.at(x.value, 16).view(np.float32)


def started(driver: HostDriver, code: CodeObject) -> tuple[GpuDevice, Any, dict[str, Any]]:
    device = GpuDevice(driver)
    module = device.load(code.payload, code.symbol, code.signature)
    x, y = device.allocate(16), device.allocate(16)
    x.bytes_.view(np.float32)[:] = [1, 2, 3, 4]
    return device, module, {"x_ptr": x, "y_ptr": y, "shift": -3, "scale": 0.5}


def test_a_launch_gets_what_the_host_wrote_and_gives_back_what_the_kernel_did(code: CodeObject) -> None:
    driver = HostDriver(doubling)
    device, module, arguments = started(driver, code)
    device.launch(module, arguments, (4, 2, 1))
    assert arguments["y_ptr"].bytes_.view(np.float32).tolist() == [2, 4, 6, 8]
    (launch,) = driver.launches
    assert (launch.function, launch.grid, launch.threads, launch.lds_bytes) == ("product_64", (4, 2, 1), 256, 0)
    kinds = [type(value) for value in launch.arguments]
    assert kinds == [ctypes.c_void_p] * 2 + [ctypes.c_int32, ctypes.c_float] + [ctypes.c_void_p] * 2
    assert [value.value for value in launch.arguments[2:]] == [-3, 0.5, None, None]
    assert arguments["x_ptr"].address % 16 == 0


def test_a_runtime_that_must_ask_for_local_memory_is_told_how_much(code: CodeObject) -> None:
    driver = HostDriver(doubling, gives_lds=True)
    device, module, arguments = started(driver, code)
    device.launch(module, arguments, (1, 1, 1))
    assert driver.launches[0].lds_bytes == code.resources["lds_bytes"] > 0


@pytest.mark.parametrize("offset", [-1, 16])
def test_writing_beside_a_buffer_is_seen(code: CodeObject, offset: int) -> None:
    def straying(driver: HostDriver, launch: Launch) -> None:
        driver.at(launch.arguments[1].value + offset, 1)[:] = 7

    device, module, arguments = started(HostDriver(straying), code)
    device.launch(module, arguments, (1, 1, 1))
    assert arguments["x_ptr"].guards_intact()
    assert not arguments["y_ptr"].guards_intact()


def test_samples_are_the_devices_own_positive_times_until_enough(code: CodeObject) -> None:
    device, module, arguments = started(HostDriver(doubling), code)
    assert device.time(module, arguments, (1, 1, 1), min_seconds=12e-6, max_launches=9) == (5_000, 7_000)
    assert device.time(module, arguments, (1, 1, 1), min_seconds=1.0, max_launches=2) == (9_000, 11_000)


def test_after_a_crash_the_device_says_that_it_is_lost(code: CodeObject) -> None:
    def crashing(driver: HostDriver, launch: Launch) -> None:
        raise DeviceFault("crash", "illegal address")

    device, module, arguments = started(HostDriver(crashing), code)
    for said in ("crash: illegal address", "crash: the device was lost before: illegal address"):
        with pytest.raises(DeviceFault) as fault:
            device.launch(module, arguments, (1, 1, 1))
        assert str(fault.value) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"shift": None}, 'kernel "product_64": the argument "shift" must be a i32 (value: a NoneType)'),
        ({"shift": 2**31}, f'kernel "product_64": the argument "shift" must be a i32 (value: {2**31})'),
        ({"shift": True}, 'kernel "product_64": the argument "shift" must be a i32 (value: True)'),
        ({"x_ptr": 5}, 'kernel "product_64": the argument "x_ptr" must be a buffer of this GPU (value: 5)'),
        ({"shfit": 1}, 'kernel "product_64" has no argument "shfit"\n  cure: did you mean "shift"?'),
    ],
)
def test_arguments_that_do_not_fit_never_reach_the_device(code: CodeObject, changes: dict[str, Any], said: str) -> None:
    driver = HostDriver(doubling)
    device, module, arguments = started(driver, code)
    with pytest.raises(InputError) as error:
        device.launch(module, arguments | changes, (1, 1, 1))
    assert str(error.value) == said
    assert not driver.launches


def test_a_missing_argument_is_named(code: CodeObject) -> None:
    device, module, arguments = started(HostDriver(doubling), code)
    del arguments["scale"]
    with pytest.raises(InputError) as error:
        device.launch(module, arguments, (1, 1, 1))
    assert str(error.value) == 'kernel "product_64": the argument "scale" is missing'


def test_a_descriptor_with_other_arguments_than_the_object_is_refused(code: CodeObject) -> None:
    with pytest.raises(InputError) as error:
        GpuDevice(HostDriver(doubling)).load(code.payload, code.symbol, code.signature[:-1])
    assert str(error.value) == 'kernel "product_64" takes other arguments than its descriptor says'


@pytest.mark.parametrize(
    ("name", "module", "package"), [("cuda", "cuda.core", "cuda-core"), ("hip", "hip", "hip-python")]
)
def test_without_its_package_a_device_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module.partition(".")[0], ModuleType("parent"))
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError) as error:
        open_device(name, timeout_s=1)
    assert str(error.value) == (
        f"the device {name} needs the Python package {package}: import of {module} halted; None in sys.modules"
        f"\n  cure: install it: pip install 'winnow-kernels[{name}]'"
    )


def test_without_rocm_the_hip_device_names_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise RuntimeError("failed to dlopen libamdhip64.so")

    package = ModuleType("hip")
    package.hip = SimpleNamespace(hipGetDeviceCount=missing)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hip", package)
    with pytest.raises(InputError) as error:
        open_device("hip", timeout_s=1)
    assert str(error.value) == (
        "no AMD GPU can be used: failed to dlopen libamdhip64.so"
        "\n  cure: the device hip needs an AMD GPU with ROCm's libamdhip64.so (check with rocminfo)"
    )


def test_without_a_driver_the_cuda_device_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(number: int) -> None:
        raise OSError("libcuda.so is missing\nsearched everywhere")

    parents = {name: ModuleType(name) for name in ("cuda", "cuda.core", "cuda.bindings", "cuda.bindings.driver")}
    parents["cuda.core"].Device = missing  # type: ignore[attr-defined]
    parents["cuda"].core = parents["cuda.core"]  # type: ignore[attr-defined]
    parents["cuda.bindings"].driver = parents["cuda.bindings.driver"]  # type: ignore[attr-defined]
    for name, module in parents.items():
        monkeypatch.setitem(sys.modules, name, module)
    with pytest.raises(InputError) as error:
        open_device("cuda", timeout_s=1)
    assert str(error.value) == (
        "no NVIDIA GPU can be used: OSError: libcuda.so is missing"
        "\n  cure: the device cuda needs an NVIDIA GPU with its driver (check with nvidia-smi)"
    )
