"""A kernel that crashes or hangs costs one variant: the fault says why, and everything else goes on."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

from winnow.devices.cpu import CpuDevice
from winnow.devices.device import DeviceFault
from winnow.errors import InputError

_DEATHS = {
    "null pointer": ("*(volatile int *)0 = 1;", "the worker died of SIGSEGV"),
    "illegal instruction": ('__asm__ volatile("ud2");', "the worker died of SIGILL"),
    "integer division": (
        "volatile int zero = 0, seven = 7; *(int *)args->x = seven / zero;",
        "the worker died of SIGFPE",
    ),
    "abort": ("abort();", "the worker died of SIGABRT"),
    "exit": ("_exit(3);", "the worker exited with status 3"),
    "far outside": ("((volatile char *)args->x)[1L << 40] = 1;", "the worker died of SIGSEGV"),
    "stack": (
        "volatile char big[1 << 24]; for (int i = 0; i < 1 << 24; i += 64) big[i] = 1;",
        "the worker died of SIGSEGV",
    ),
    "killed": (
        "kill(getpid(), 9);",
        "the worker died of SIGKILL (the system ends a process so when memory runs out)",
    ),
    "last words": (
        'fputs("assertion\\n  failed", stderr); abort();',
        "the worker died of SIGABRT; it wrote: assertion failed",
    ),
}


@pytest.fixture
def healthy(build):
    return build("*(int *)args->x += 1;", "x:ptr")


def load(device, compiled):
    return device.load(compiled.payload, compiled.symbol, compiled.signature)


@pytest.mark.parametrize("name", _DEATHS)
def test_a_crash_is_a_fault_with_its_cause_and_the_others_work_on(device, build, healthy, name):
    body, detail = _DEATHS[name]
    good = load(device, healthy)
    bad = load(device, build(body, "x:ptr"))
    buffer = device.allocate(64)
    device.launch(good, {"x": buffer}, (1, 1, 1))
    for _ in range(2):
        with pytest.raises(DeviceFault) as caught:
            device.launch(bad, {"x": buffer}, (1, 1, 1))
        assert (caught.value.kind, caught.value.detail) == ("crash", detail)
    device.launch(good, {"x": buffer}, (1, 1, 1))
    assert buffer.bytes_.view(np.int32)[0] == 2
    assert buffer.guards_intact()


def test_a_crash_while_timing_is_a_fault_too(device, build, healthy):
    bad = load(device, build("if (++*(int *)args->x == 5) abort();", "x:ptr"))
    good = load(device, healthy)
    buffer = device.allocate(4)
    with pytest.raises(DeviceFault, match=r"^crash: the worker died of SIGABRT$"):
        device.time(bad, {"x": buffer}, (1, 1, 1), min_seconds=1, max_launches=100)
    assert len(device.time(good, {"x": buffer}, (1, 1, 1), min_seconds=1, max_launches=3)) == 3


def test_a_kernel_that_writes_into_the_channel_is_a_fault(device, build, healthy):
    """Into any descriptor, as by a wild `write`: the answer is not taken for the worker's."""
    good = load(device, healthy)
    bad = load(device, build('for (int fd = 3; fd < 64; fd++) dprintf(fd, "12345678"); for (;;) pause();', "x:ptr"))
    buffer = device.allocate(4)
    with pytest.raises(DeviceFault) as caught:
        device.launch(bad, {"x": buffer}, (1, 1, 1))
    assert str(caught.value) == "crash: the worker broke off the conversation"
    device.launch(good, {"x": buffer}, (1, 1, 1))


def test_an_endless_kernel_is_ended_at_the_time_limit(impatient, build, healthy):
    bad = load(impatient, build('for (;;) __asm__ volatile("");', "x:ptr"))
    good = load(impatient, healthy)
    buffer = impatient.allocate(4)
    for run in (
        lambda: impatient.launch(bad, {"x": buffer}, (1, 1, 1)),
        lambda: impatient.time(bad, {"x": buffer}, (1, 1, 1), min_seconds=0, max_launches=1),
    ):
        with pytest.raises(DeviceFault) as caught:
            run()
        assert str(caught.value) == "timeout: no answer within 0.7 s, so the worker was ended"
        impatient.launch(good, {"x": buffer}, (1, 1, 1))
    assert buffer.bytes_.view(np.int32)[0] == 2


def test_timing_for_longer_than_the_time_limit_of_one_launch_is_no_hang(impatient, healthy):
    good = load(impatient, healthy)
    buffer = impatient.allocate(4)
    samples = impatient.time(good, {"x": buffer}, (1, 1, 1), min_seconds=0.9, max_launches=10**9)
    assert len(samples) > 1


def test_an_object_that_crashes_on_loading_is_a_load_fault(device, build, healthy):
    good = load(device, healthy)
    text = "} __attribute__((constructor)) static void start(void) { abort();"
    with pytest.raises(DeviceFault) as caught:
        load(device, build(text, "x:ptr"))
    assert str(caught.value) == "load: the worker died of SIGABRT"
    device.launch(good, {"x": device.allocate(4)}, (1, 1, 1))


def test_an_object_that_hangs_on_loading_is_a_timeout(impatient, build):
    text = "} __attribute__((constructor)) static void start(void) { for (;;) pause();"
    with pytest.raises(DeviceFault, match=r"^timeout: no answer within 0.7 s, so the worker was ended$"):
        load(impatient, build(text, "x:ptr"))


def test_a_worker_that_was_killed_between_launches_is_replaced(device, build):
    pid = load(device, build("*(int *)args->x = getpid();", "x:ptr"))
    buffer = device.allocate(4)
    device.launch(pid, {"x": buffer}, (1, 1, 1))
    first = int(buffer.bytes_.view(np.int32)[0])
    os.kill(first, 9)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    device.launch(pid, {"x": buffer}, (1, 1, 1))
    assert buffer.bytes_.view(np.int32)[0] != first


def test_crashes_use_up_no_descriptors(device, build):
    bad = load(device, build("abort();", "x:ptr"))
    buffer = device.allocate(4)
    counts = []
    for _ in range(4):
        with pytest.raises(DeviceFault):
            device.launch(bad, {"x": buffer}, (1, 1, 1))
        counts.append(len(os.listdir("/proc/self/fd")))
    assert len(set(counts)) == 1


def test_a_fault_crosses_process_boundaries_whole():
    """A sweep's executor may run the device in another process."""
    fault = pickle.loads(pickle.dumps(DeviceFault("timeout", "too long")))
    assert (fault.kind, fault.detail, str(fault)) == ("timeout", "too long", "timeout: too long")


def test_a_python_that_cannot_start_the_worker_is_an_error_of_the_environment(monkeypatch, tmp_path, healthy):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no module named ctypes >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    with CpuDevice() as device, pytest.raises(InputError) as caught:
        load(device, healthy)
    expected = (
        "the CPU device's worker does not start: the worker exited with status 1; it wrote: no module named ctypes"
    )
    assert str(caught.value) == expected


def test_a_time_limit_of_nothing_is_refused():
    with pytest.raises(ValueError, match=r"^a time limit of 0 s$"):
        CpuDevice(timeout_s=0)
