"""Launching and timing on the CPU: the right kernel, with the right arguments, and only measurements that are real."""

from __future__ import annotations

import itertools
import json
import resource
from pathlib import Path

import numpy as np
import pytest

from winnow.compilers.code_object import Argument
from winnow.devices import cpu_worker
from winnow.devices.cpu import CpuDevice
from winnow.devices.device import DeviceFault
from winnow.errors import InputError
from winnow.targets.cpu import cpu_targets, host_level

_LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
_RUNNABLE = [t for t in cpu_targets() if t == "x86-64-generic" or _LEVELS.index(t) <= _LEVELS.index(host_level())]


def run(device, compiled, grid=(1, 1, 1), nbytes=64, **numbers):
    """Launch with a fresh buffer as `x`, and give the buffer back."""
    buffer = device.allocate(nbytes)
    device.launch(device.load(compiled.payload, compiled.symbol, compiled.signature), {"x": buffer, **numbers}, grid)
    return buffer


@pytest.mark.parametrize("target", _RUNNABLE)
def test_every_argument_and_the_grid_arrive(device, build, target):
    body = """int64_t *x = args->x; x[0] = args->a; x[1] = args->b; x[2] = (int64_t)(args->c * 4); x[3] = grid_x;
        x[4] = grid_y; x[5] = grid_z; *(int64_t *)args->second = 99;"""
    compiled = build(body, "a:i32", "x:ptr", "b:i64", "second:ptr", "c:f32", target=target)
    second = device.allocate(8)
    first = run(device, compiled, grid=(7, 2**31 - 1, 1), a=-3, b=-(2**40), c=1.25, second=second)
    assert first.bytes_.view(np.int64)[:6].tolist() == [-3, -(2**40), 5, 7, 2**31 - 1, 1]
    assert second.bytes_.view(np.int64)[0] == 99


@pytest.mark.parametrize("target", _RUNNABLE)
def test_nan_and_infinity_survive_the_compiler(device, build, target):
    """Outputs are poisoned with NaN and masks are infinities: the optimiser must not assume them away."""
    body = "float v = args->v; int *x = args->x; x[0] = v != v; x[1] = v == -__builtin_inff(); x[2] = v < 0;"
    compiled = build(body, "x:ptr", "v:f32", target=target)
    answers = {v: run(device, compiled, v=v).bytes_.view(np.int32)[:3].tolist() for v in (np.nan, -np.inf, -1.0)}
    assert list(answers.values()) == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]


def test_the_planted_wrong_kernel_runs_and_is_wrong(device, build):
    """Nothing here may repair or hide it: the check against the reference has to see it."""
    right, wrong = (build(f"((float *)args->x)[0] = {value};", "x:ptr") for value in ("2.0f", "2.5f"))
    assert [run(device, compiled).bytes_.view(np.float32)[0] for compiled in (right, wrong)] == [2.0, 2.5]


def test_many_objects_with_one_symbol_stay_apart(device, build):
    """The loader takes a path it has seen for the library it has loaded; then every variant would be the first."""
    compiled = [build(f"*(int *)args->x = {i};", "x:ptr") for i in range(12)]
    modules = [device.load(c.payload, "k", c.signature) for c in compiled]
    buffer = device.allocate(4)
    for i in [*range(12), *reversed(range(12))]:
        device.launch(modules[i], {"x": buffer}, (1, 1, 1))
        assert buffer.bytes_.view(np.int32)[0] == i


def test_more_modules_than_a_process_may_usually_open(build):
    """Each keeps a descriptor; a catalog may hold a thousand, and the usual limit is 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    compiled = build("*(int *)args->x += 1;", "x:ptr")
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        with CpuDevice() as device:
            modules = [device.load(compiled.payload, "k", compiled.signature) for _ in range(150)]
            buffer = device.allocate(4)
            for module in (modules[0], modules[-1]):
                device.launch(module, {"x": buffer}, (1, 1, 1))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert buffer.bytes_.view(np.int32)[0] == 2


def test_a_kernel_cannot_change_the_arithmetic_of_the_next_one(device, build):
    """Flush-to-zero or another rounding, left behind by one variant, would change another one's result."""
    meddle = build("__builtin_ia32_ldmxcsr(0x1f80 | 0x8040 | 0x6000);", "x:ptr")
    tiny = build("volatile float t = 1e-39f; *(float *)args->x = t * 0.5f + args->v;", "x:ptr", "v:f32")
    run(device, meddle)
    assert run(device, tiny, v=0.0).bytes_.view(np.float32)[0] == np.float32(1e-39) * np.float32(0.5)


def test_modules_and_buffers_outlive_the_worker(device, build):
    compiled = build("*(int *)args->x += 1;", "x:ptr")
    module = device.load(compiled.payload, "k", compiled.signature)
    buffer = device.allocate(4)
    for expected in (1, 2, 3):
        device.launch(module, {"x": buffer}, (1, 1, 1))
        assert buffer.bytes_.view(np.int32)[0] == expected
        device.close()


def test_what_a_kernel_prints_does_not_reach_the_commands_output(device, build, capfd):
    run(device, build('puts("hello"); fflush(stdout); write(2, "oh\\n", 3);', "x:ptr"))
    device.close()
    assert capfd.readouterr() == ("", "")


def test_samples_are_positive_and_as_many_as_asked_for(device, build):
    compiled = build("*(int *)args->x += 1;", "x:ptr")
    module = device.load(compiled.payload, "k", compiled.signature)
    buffer = device.allocate(4)
    samples = device.time(module, {"x": buffer}, (1, 1, 1), min_seconds=10, max_launches=50)
    assert len(samples) == 50 == buffer.bytes_.view(np.int32)[0]
    assert all(type(sample) is int and sample > 0 for sample in samples)


def test_timing_ends_after_the_time_asked_for_but_not_before_one_launch(device, build):
    compiled = build("*(int *)args->x += 1; usleep(2000);", "x:ptr")
    module = device.load(compiled.payload, "k", compiled.signature)
    buffer = device.allocate(4)
    samples = device.time(module, {"x": buffer}, (1, 1, 1), min_seconds=0, max_launches=50)
    assert len(samples) == 1
    assert samples[0] >= 2_000_000
    several = device.time(module, {"x": buffer}, (1, 1, 1), min_seconds=0.5, max_launches=1000)
    assert 1 < len(several) <= 250


def test_a_reading_that_is_not_positive_is_no_measurement(monkeypatch):
    """The worker's loop on a clock that stands still or runs backwards between some readings."""
    readings = iter([0, *(0, 0), *(10, 5), *(20, 27), *(30, 30), *(40, 41)])
    monkeypatch.setattr(cpu_worker, "perf_counter_ns", lambda: next(readings))
    held = cpu_worker._Holdings(functions={1: lambda *arguments: None})
    command = {"module": 1, "block": "", "pointers": [], "grid": [1, 1, 1], "min_ns": 10**9, "max_launches": 5}
    assert cpu_worker._time(held, command, None) == {"samples": [7, 1]}


def test_timing_goes_on_until_there_is_one_measurement(monkeypatch):
    readings = itertools.chain([0], [0, 0] * 9, [5, 8])
    monkeypatch.setattr(cpu_worker, "perf_counter_ns", lambda: next(readings))
    held = cpu_worker._Holdings(functions={1: lambda *arguments: None})
    command = {"module": 1, "block": "", "pointers": [], "grid": [1, 1, 1], "min_ns": 0, "max_launches": 1}
    assert cpu_worker._time(held, command, None) == {"samples": [3]}


def test_launches_leave_nothing_behind_in_the_worker(device, build):
    """It collects no garbage while it measures, so a sweep of hours must not make any."""
    compiled = build("*(int *)args->x = getpid();", "x:ptr")
    module = device.load(compiled.payload, "k", compiled.signature)
    buffer = device.allocate(4)
    sizes = []
    for _ in range(2):
        for _ in range(1500):
            device.launch(module, {"x": buffer}, (1, 1, 1))
        status = Path(f"/proc/{buffer.bytes_.view(np.int32)[0]}/status").read_text()
        sizes.append(int(status.partition("RssAnon:")[2].split()[0]))
    assert sizes[1] - sizes[0] < 200, "kilobytes"


def test_bad_arguments_run_nothing(device, build):
    compiled = build("*(int *)args->x = args->n;", "x:ptr", "n:i32")
    module = device.load(compiled.payload, "k", compiled.signature)
    buffer = device.allocate(4)
    for arguments in ({"x": buffer}, {"x": buffer, "n": 2**31}, {"x": buffer, "n": 1, "m": 1}):
        with pytest.raises(InputError):
            device.launch(module, arguments, (1, 1, 1))
        with pytest.raises(InputError):
            device.time(module, arguments, (1, 1, 1), min_seconds=0, max_launches=1)
    assert buffer.bytes_.view(np.int32)[0] == 0


@pytest.mark.parametrize(
    ("signature", "named"),
    [
        ((Argument("global_buffer", 8, 4, "x", ""),), "an unaligned pointer"),
        ((Argument("by_value", 4, 0, "x", "f16"),), "an unknown type"),
        ((Argument("by_value", 8, 0, "x", ""),), "a number without a type"),
    ],
)
def test_a_signature_that_cannot_be_right_is_refused(device, build, signature, named):
    compiled = build("*(int *)args->x = 1;", "x:ptr")
    with pytest.raises(InputError):
        device.load(compiled.payload, "k", signature)


def test_a_misplaced_signature_says_so(device, build):
    with pytest.raises(InputError) as caught:
        device.load(b"", "k", (Argument("global_buffer", 8, 4, "x", ""),))
    expected = 'kernel "k": its arguments do not lie as their types require\n  cure: pack the catalog again'
    assert str(caught.value) == expected


@pytest.mark.parametrize("payload", [b"", b"not an object", bytes(5000)])
def test_bytes_that_are_no_object_are_a_load_fault(device, payload):
    with pytest.raises(DeviceFault) as caught:
        device.load(payload, "k", ())
    assert caught.value.kind == "load"


def test_a_symbol_that_is_not_there_is_a_load_fault(device, build):
    with pytest.raises(DeviceFault) as caught:
        device.load(build("", "x:ptr").payload, "other", ())
    assert str(caught.value) == 'load: the object does not export "other"'


@pytest.mark.parametrize("limits", [{"min_seconds": 1, "max_launches": 0}, {"min_seconds": -1, "max_launches": 1}])
def test_limits_that_ask_for_no_launch_are_refused(device, build, limits):
    compiled = build("", "x:ptr")
    module = device.load(compiled.payload, "k", compiled.signature)
    with pytest.raises(ValueError, match="max_launches"):
        device.time(module, {"x": device.allocate(4)}, (1, 1, 1), **limits)


def test_a_module_of_another_device_is_refused(device, build):
    """Its number may be that of a module of this one."""

    class Foreign:
        symbol = "k"

    compiled = build("*(int *)args->x = 1;", "x:ptr")
    with CpuDevice() as other:
        module = other.load(compiled.payload, "k", compiled.signature)
        for foreign, named in ((Foreign(), "Foreign"), (module, "WorkerModule")):
            with pytest.raises(TypeError, match=rf"^a {named} is not a module of this device$"):
                device.launch(foreign, {}, (1, 1, 1))


def test_the_device_is_the_highest_level_of_this_machine(device):
    assert device.arch == host_level()


def test_the_fingerprint_is_the_same_for_every_device_and_worker(device):
    first = dict(device.fingerprint())
    device.close()
    with CpuDevice() as other:
        assert first == device.fingerprint() == other.fingerprint()
    assert json.loads(json.dumps(first)) == first
    assert first["device"] == "cpu"
    assert first["arch"] == device.arch
    assert first["worker"] in ("pinned to one CPU", "not pinned")
    assert all(type(value) in (str, int) for value in first.values())
