"""GPUs: what launches do to memory and arguments, over a driver made of host memory; and machines without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import host_driver
import numpy as np
import pytest

from winnow.compilers.code_object import CodeObject
from winnow.devices import gpu_worker
from winnow.devices.find import open_device
from winnow.devices.gpu import GpuDevice
from winnow.errors import InputError


@pytest.fixture
def gpu() -> Iterator[GpuDevice]:
    with GpuDevice("host_driver:HostDriver", name="host") as opened:
        yield opened


def ready(gpu: GpuDevice, code: CodeObject) -> tuple[Any, dict[str, Any]]:
    """A module, and arguments of which x begins with 1, 2, 3, 4 as fp32."""
    module = gpu.load(code.payload, code.symbol, code.signature)
    x, y = gpu.allocate(512), gpu.allocate(512)
    x.bytes_[:16].view(np.float32)[:] = [1, 2, 3, 4]
    return module, {"x_ptr": x, "y_ptr": y, "shift": host_driver.DOUBLE, "scale": 0.5}


def report(gpu: GpuDevice, module: Any, arguments: dict[str, Any], grid: tuple[int, int, int] = (1, 1, 1)) -> Any:
    """What the driver was given, by its own account."""
    gpu.launch(module, arguments | {"shift": host_driver.REPORT}, grid)
    return json.loads(arguments["y_ptr"].bytes_.tobytes().rstrip(b"\0"))


def test_a_launch_gets_what_the_host_wrote_and_gives_back_what_the_kernel_did(
    gpu: GpuDevice, gpu_code: CodeObject
) -> None:
    module, arguments = ready(gpu, gpu_code)
    gpu.launch(module, arguments, (4, 2, 1))
    assert arguments["y_ptr"].bytes_[:16].view(np.float32).tolist() == [2, 4, 6, 8]
    assert arguments["y_ptr"].guards_intact()


def test_a_driver_gets_the_object_the_grid_and_every_argument(gpu: GpuDevice, gpu_code: CodeObject) -> None:
    module, arguments = ready(gpu, gpu_code)
    seen = report(gpu, module, arguments, (4, 2, 1))
    assert seen["pid"] != os.getpid()
    assert seen["function"] == f"product_16 of {len(gpu_code.payload)} bytes, 0 local"
    assert seen["launch"] == [[4, 2, 1], gpu_code.resources["threads_per_block"], 0]
    kinds = ["c_void_p"] * 2 + ["c_int", "c_float"] + ["c_void_p"] * 2
    assert [kind for kind, _ in seen["arguments"]] == kinds
    x, y, *others = [value for _, value in seen["arguments"]]
    assert others == [host_driver.REPORT, 0.5, None, None]
    assert x != y
    assert x % 16 == y % 16 == 0


def test_a_runtime_that_must_ask_for_local_memory_is_told_how_much(gpu_code: CodeObject) -> None:
    with GpuDevice("host_driver:AskingDriver", name="host") as gpu:
        module, arguments = ready(gpu, gpu_code)
        seen = report(gpu, module, arguments)
    assert seen["launch"][2] == gpu_code.resources["lds_bytes"] > 0
    assert seen["function"].endswith(f"{gpu_code.resources['lds_bytes']} local")


@pytest.mark.parametrize("where", [host_driver.BEFORE, host_driver.BEHIND])
def test_writing_beside_a_buffer_is_seen_and_the_worker_is_replaced(
    gpu: GpuDevice, gpu_code: CodeObject, where: int
) -> None:
    module, arguments = ready(gpu, gpu_code)
    first = report(gpu, module, arguments)["pid"]
    gpu.launch(module, arguments | {"shift": where}, (1, 1, 1))
    assert arguments["x_ptr"].guards_intact()
    assert not arguments["y_ptr"].guards_intact()
    assert report(gpu, module, arguments)["pid"] != first


def test_one_buffer_for_two_arguments_is_one_piece_of_memory(gpu: GpuDevice, gpu_code: CodeObject) -> None:
    module, arguments = ready(gpu, gpu_code)
    seen = report(gpu, module, arguments | {"x_ptr": arguments["y_ptr"]})
    assert seen["arguments"][0] == seen["arguments"][1]
    assert (seen["blocks"], seen["transfers"]) == (1, ["up"])


def test_freeing_a_buffer_frees_it_on_the_device(gpu: GpuDevice, gpu_code: CodeObject) -> None:
    module, arguments = ready(gpu, gpu_code)
    for _ in range(3):
        assert report(gpu, module, arguments)["blocks"] == 2
        arguments["x_ptr"].free()
        arguments["x_ptr"] = gpu.allocate(512)


def test_samples_are_the_devices_own_positive_times(gpu: GpuDevice, gpu_code: CodeObject) -> None:
    """Its memory is made equal to the host's once, before the first launch and after the last."""
    module, arguments = ready(gpu, gpu_code)
    arguments["shift"] = host_driver.COUNT
    assert gpu.time(module, arguments, (1, 1, 1), min_seconds=60, max_launches=4) == (5_000, 7_000)
    assert arguments["y_ptr"].bytes_[:4].view(np.int32).tolist() == [4]
    assert gpu.time(module, arguments, (1, 1, 1), min_seconds=0, max_launches=9) == (9_000,)
    assert report(gpu, module, arguments)["transfers"] == ["up", "up", "down", "down"] * 2 + ["up", "up"]


def test_timing_ends_after_the_time_asked_for_but_not_without_a_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker's loop, on a clock of its own: each launch takes ten nanoseconds."""
    readings = iter(range(0, 1000, 10))
    monkeypatch.setattr(gpu_worker, "perf_counter_ns", lambda: next(readings))
    held = gpu_worker._Holdings(host_driver.HostDriver())
    arguments = [["", 0], ["", 0], ["i32", 8]]
    held.kernels[1] = gpu_worker._Kernel(None, 1, 0, arguments)
    held.mappings[2] = gpu_worker._Mapping(np.zeros(64, np.uint8), held.driver.allocate(64), 0)
    block = bytes(8) + host_driver.COUNT.to_bytes(4, "little")
    call = {"module": 1, "block": block.hex(), "pointers": [[0, 2]], "grid": [1, 1, 1], "max_launches": 9}
    assert gpu_worker._time(held, call | {"min_ns": 25}, None) == {"samples": [5_000, 7_000]}
    assert gpu_worker._time(held, call | {"min_ns": 0}, None) == {"samples": [9_000]}


def test_limits_that_ask_for_no_launch_are_refused(gpu: GpuDevice, gpu_code: CodeObject) -> None:
    module, arguments = ready(gpu, gpu_code)
    with pytest.raises(ValueError, match=r"^min_seconds=1, max_launches=0$"):
        gpu.time(module, arguments, (1, 1, 1), min_seconds=1, max_launches=0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"shift": None}, 'kernel "product_16": the argument "shift" must be a i32 (value: a NoneType)'),
        ({"shift": 2**31}, f'kernel "product_16": the argument "shift" must be a i32 (value: {2**31})'),
        ({"shift": True}, 'kernel "product_16": the argument "shift" must be a i32 (value: True)'),
        ({"scale": 1e39}, 'kernel "product_16": the argument "scale" must be a f32 (value: 1e+39)'),
        ({"x_ptr": 5}, 'kernel "product_16": the argument "x_ptr" must be a live buffer of this device (value: 5)'),
        ({"shfit": 1}, 'kernel "product_16" has no argument "shfit"\n  cure: did you mean "shift"?'),
        ({"scale": ...}, 'kernel "product_16": the argument "scale" is missing'),
        ({"x_ptr": ...}, 'kernel "product_16": the argument "x_ptr" is missing'),
    ],
)
def test_arguments_that_do_not_fit_never_reach_the_device(
    gpu: GpuDevice, gpu_code: CodeObject, changes: dict[str, Any], said: str
) -> None:
    module, arguments = ready(gpu, gpu_code)
    given = {name: value for name, value in (arguments | changes).items() if value is not ...}
    with pytest.raises(InputError) as error:
        gpu.launch(module, given, (1, 1, 1))
    assert str(error.value) == said
    seen = report(gpu, module, arguments)
    assert seen["transfers"] == ["up", "up"]


def test_a_descriptor_with_other_arguments_than_the_object_is_refused(gpu: GpuDevice, gpu_code: CodeObject) -> None:
    with pytest.raises(InputError) as error:
        gpu.load(gpu_code.payload, gpu_code.symbol, gpu_code.signature[:-1])
    assert str(error.value) == 'kernel "product_16" takes other arguments than its descriptor says'


def test_the_fingerprint_names_the_device_its_driver_and_the_policy(gpu: GpuDevice) -> None:
    assert gpu.arch == "gfx950"
    assert gpu.fingerprint() == {"arch": "gfx950", "model": "host", "driver": 7, "policy": 2}


def test_the_driver_is_imported_by_the_worker_alone() -> None:
    script = (
        "import sys; from winnow.devices.gpu import GpuDevice\n"
        "with GpuDevice('host_driver:HostDriver', name='host') as gpu: print(gpu.arch, 'host_driver' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == "gfx950 False\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where packages shadow those that a worker would import."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "files", "package", "missing"),
    [
        ("cuda", {"cuda/__init__.py": ""}, "cuda-core", "No module named 'cuda.core'"),
        ("hip", {"hip/__init__.py": "raise ImportError('no hip here')"}, "hip-python", "no hip here"),
    ],
)
def test_without_its_package_a_device_says_what_to_install(
    packages: Path, name: str, files: dict[str, str], package: str, missing: str
) -> None:
    write(packages, files)
    with pytest.raises(InputError) as error:
        open_device(name, timeout_s=1)
    assert error.value.exit_code == 2
    assert str(error.value) == (
        f"the device {name} needs the Python package {package}: {missing}"
        f"\n  cure: install it: pip install 'winnow-kernels[{name}]'"
    )


_HIP_WITHOUT_ROCM = """
def hipGetDeviceCount():
    raise RuntimeError("failed to dlopen libamdhip64.so")
"""
_HIP_WITHOUT_GPU = """
class hipError_t:
    hipSuccess = 0
def hipGetDeviceCount():
    return 0, 0
"""
_HIP_WITH_ERROR = _HIP_WITHOUT_GPU.replace("return 0, 0", "return 100, 0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_HIP_WITHOUT_ROCM, "failed to dlopen libamdhip64.so"),
        (_HIP_WITHOUT_GPU, "ROCm finds none"),
        (_HIP_WITH_ERROR, "crash: 100"),
    ],
)
def test_without_rocm_or_a_gpu_the_hip_device_says_so(packages: Path, text: str, said: str) -> None:
    write(packages, {"hip/__init__.py": "", "hip/hip.py": text})
    with pytest.raises(InputError) as error:
        open_device("hip", timeout_s=1)
    assert str(error.value) == (
        f"no AMD GPU can be used: {said}"
        "\n  cure: the device hip needs an AMD GPU with ROCm's libamdhip64.so (check with rocminfo)"
    )


def test_without_a_driver_the_cuda_device_names_it(packages: Path) -> None:
    core = 'def Device(number):\n    raise OSError("libcuda.so is missing\\nsearched everywhere")\n'
    write(
        packages,
        {
            "cuda/__init__.py": "",
            "cuda/core/__init__.py": core,
            "cuda/bindings/__init__.py": "",
            "cuda/bindings/driver.py": "",
        },
    )
    with pytest.raises(InputError) as error:
        open_device("cuda", timeout_s=1)
    assert str(error.value) == (
        "no NVIDIA GPU can be used: OSError: libcuda.so is missing"
        "\n  cure: the device cuda needs an NVIDIA GPU with its driver (check with nvidia-smi)"
    )


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        ("AbsentDriver", "no such GPU\n  cure: buy one"),
        ("BrokenDriver", "the GPU cannot be used: no version"),
        ("DyingDriver", "the host device's worker does not start: the worker died of SIGABRT"),
    ],
)
def test_a_driver_that_cannot_be_used_is_an_error_of_the_environment(driver: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        GpuDevice(f"host_driver:{driver}", name="host")
    assert str(error.value) == said


def test_a_time_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a time limit of 0 s$"):
        GpuDevice("host_driver:HostDriver", name="host", timeout_s=0)
