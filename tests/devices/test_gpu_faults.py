"""A kernel that crashes or hangs on a GPU costs one variant: the fault says why, and the others work on."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest
from host_driver import ABORT, COUNT, EXIT, FAULT, HANG, HANG_LOCKED, KILLED, REPORT, SURPRISE
from processes import ended

from winnow.devices.device import DeviceFault
from winnow.devices.gpu import GpuDevice
from winnow.errors import InputError

_DEATHS = {
    "killed": (KILLED, "the worker died of SIGKILL (the system ends a process so when memory runs out)"),
    "exit": (EXIT, "the worker exited with status 3"),
    "abort": (ABORT, "the worker died of SIGABRT"),
    "driver fault": (FAULT, "illegal address"),
}


class Bench:
    """A device with two modules and two buffers of 512 bytes."""

    def __init__(self, gpu, code):
        self.gpu = gpu
        self.good, self.bad = (gpu.load(code.payload, code.symbol, code.signature) for _ in range(2))
        self.arguments = {"x_ptr": gpu.allocate(512), "y_ptr": gpu.allocate(512), "scale": 1.0}
        self.other = gpu.allocate(512)

    def launch(self, module, kernel):
        self.gpu.launch(module, self.arguments | {"shift": kernel}, (1, 1, 1))

    def time(self, module, kernel, min_seconds=0.0, max_launches=1):
        limits = {"min_seconds": min_seconds, "max_launches": max_launches}
        return self.gpu.time(module, self.arguments | {"shift": kernel}, (1, 1, 1), **limits)

    def count(self):
        """How often a kernel that counts ran on the buffers."""
        return int(self.arguments["y_ptr"].bytes_[:4].view(np.int32)[0])

    def pid(self):
        """The worker's process, by a launch on a buffer of its own."""
        arguments = self.arguments | {"y_ptr": self.other, "shift": REPORT}
        self.gpu.launch(self.good, arguments, (1, 1, 1))
        return json.loads(self.other.bytes_.tobytes().rstrip(b"\0"))["pid"]


@pytest.fixture
def bench(gpu_code):
    with GpuDevice("host_driver:HostDriver", name="host", timeout_s=20) as gpu:
        yield Bench(gpu, gpu_code)


@pytest.fixture
def impatient(gpu_code):
    with GpuDevice("host_driver:HostDriver", name="host", timeout_s=0.7) as gpu:
        yield Bench(gpu, gpu_code)


@pytest.mark.parametrize("name", _DEATHS)
def test_a_crash_is_a_fault_with_its_cause_and_the_others_work_on(bench, name):
    """Of a fault that the driver reports the context is not used again either."""
    kernel, detail = _DEATHS[name]
    bench.launch(bench.good, COUNT)
    for run in (bench.launch, bench.time):
        first = bench.pid()
        with pytest.raises(DeviceFault) as caught:
            run(bench.bad, kernel)
        assert (caught.value.kind, caught.value.detail) == ("crash", detail)
        assert ended(first)
        assert bench.pid() != first
    bench.launch(bench.good, COUNT)
    bench.launch(bench.bad, COUNT)
    assert bench.count() == 3, "what a kernel did before its fault is not kept"
    assert bench.arguments["y_ptr"].guards_intact()


def test_an_error_of_the_runtime_that_nobody_foresaw_is_a_crash_with_its_text(bench):
    with pytest.raises(DeviceFault) as caught:
        bench.launch(bench.bad, SURPRISE)
    assert caught.value.kind == "crash"
    assert caught.value.detail.startswith("the worker exited with status 1; it wrote: ")
    assert caught.value.detail.endswith("""KeyError: "a runtime's own error\"""")
    bench.launch(bench.good, COUNT)
    assert bench.count() == 1


@pytest.mark.parametrize("kernel", [HANG, HANG_LOCKED])
def test_an_endless_kernel_is_ended_at_the_time_limit(impatient, kernel):
    first = impatient.pid()
    for expected, run in enumerate((impatient.launch, impatient.time), 1):
        with pytest.raises(DeviceFault) as caught:
            run(impatient.bad, kernel)
        assert str(caught.value) == "timeout: no answer within 0.7 s, so the worker was ended"
        impatient.launch(impatient.good, COUNT)
        assert impatient.count() == expected
    assert ended(first)


def test_timing_for_longer_than_the_time_limit_of_one_launch_is_no_hang(impatient):
    limits = {"min_seconds": 0.9, "max_launches": 40}
    assert len(impatient.time(impatient.good, COUNT, **limits)) == 38, "two readings are not positive"


def test_a_worker_that_was_killed_between_launches_is_replaced(bench):
    first = bench.pid()
    os.kill(first, 9)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert bench.pid() != first


def test_modules_and_buffers_outlive_the_worker(bench):
    for expected in (1, 2, 3):
        bench.launch(bench.good, COUNT)
        assert bench.count() == expected
        bench.gpu.close()


def test_crashes_use_up_no_descriptors(bench):
    counts = []
    for kernel in (EXIT, FAULT, EXIT, FAULT):
        with pytest.raises(DeviceFault):
            bench.launch(bench.bad, kernel)
        counts.append(len(os.listdir("/proc/self/fd")))
    assert len(set(counts)) == 1


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        ("SpoiledDriver", "load: the context is gone"),
        ("FatalDriver", "load: the worker exited with status 4"),
        ("HangingDriver", "timeout: no answer within 0.7 s, so the worker was ended"),
    ],
)
def test_an_object_that_takes_the_worker_down_is_a_load_fault(gpu_code, driver, said):
    with GpuDevice(f"host_driver:{driver}", name="host", timeout_s=0.7) as gpu:
        for _ in range(2):
            with pytest.raises(DeviceFault) as caught:
                gpu.load(gpu_code.payload, gpu_code.symbol, gpu_code.signature)
            assert str(caught.value) == said


def test_an_object_that_the_device_refuses_does_not_cost_the_worker(gpu_code):
    with GpuDevice("host_driver:RefusingDriver", name="host") as gpu:
        said = set()
        for _ in range(2):
            with pytest.raises(DeviceFault, match=r"^load: no image for this device \(process \d+\)$") as caught:
                gpu.load(gpu_code.payload, gpu_code.symbol, gpu_code.signature)
            said.add(caught.value.detail)
    assert len(said) == 1


def test_a_device_without_room_for_a_buffer_is_an_error_and_no_kernels_fault(gpu_code):
    with GpuDevice("host_driver:FullDriver", name="host") as gpu, pytest.raises(InputError) as caught:
        Bench(gpu, gpu_code).pid()
    assert str(caught.value) == (
        "no memory on the device for a buffer of 135168 bytes: out of memory"
        "\n  cure: free memory or take a smaller graph"
    )


def test_a_worker_that_its_driver_keeps_from_dying_does_not_hold_up_the_run(bench, monkeypatch):
    """A killed process stays as long as the system's part of a driver waits for the hardware."""
    bench.launch(bench.good, COUNT)
    process = bench.gpu._worker._worker._process

    def stuck(seconds):
        raise subprocess.TimeoutExpired("worker", seconds)

    monkeypatch.setattr(process, "wait", stuck)
    bench.gpu.close()
    bench.launch(bench.good, COUNT)
    assert bench.count() == 2
    monkeypatch.undo()
    process.wait()
