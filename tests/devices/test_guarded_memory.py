"""Guarded buffers: a kernel that writes beside its output is wrong even when the output is right."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from winnow.devices import guarded_memory
from winnow.devices.guarded_memory import GUARD_BYTES
from winnow.errors import InputError


@pytest.mark.parametrize("nbytes", [0, 1, 4095, 4096, 4097, 1_000_003])
def test_a_buffer_is_zeroed_page_aligned_and_of_the_size_asked_for(device, nbytes):
    buffer = device.allocate(nbytes)
    assert buffer.bytes_.shape == (nbytes,)
    assert buffer.bytes_.dtype == np.uint8
    assert not buffer.bytes_.any()
    if nbytes:
        assert buffer.bytes_.ctypes.data % 4096 == 0
        buffer.bytes_[:] = 255
    assert buffer.guards_intact()


def test_kernel_and_host_see_the_same_memory(device, build):
    add = build("float *x = args->x; for (int i = 0; i < args->n; i++) x[i] += 1;", "x:ptr", "n:i32")
    module = device.load(add.payload, "k", add.signature)
    buffer = device.allocate(4 * 1001)
    floats = buffer.bytes_.view(np.float32)
    floats[:] = np.arange(1001)
    device.launch(module, {"x": buffer, "n": 1001}, (1, 1, 1))
    device.launch(module, {"x": buffer, "n": 1001}, (1, 1, 1))
    assert np.array_equal(floats, np.arange(1001) + 2)
    assert buffer.guards_intact()


def test_the_kernels_pointer_is_page_aligned_too(device, build):
    address = build("*(uint64_t *)args->x = (uint64_t)args->x;", "x:ptr")
    buffer = device.allocate(8)
    device.launch(device.load(address.payload, "k", address.signature), {"x": buffer}, (1, 1, 1))
    assert int(buffer.bytes_.view(np.uint64)[0]) % 4096 == 0


@pytest.mark.parametrize("nbytes", [4096, 4093])
@pytest.mark.parametrize("where", ["first behind", "first before", "last behind", "last before"])
def test_one_byte_written_outside_is_seen(device, build, nbytes, where):
    poke = build("((unsigned char *)args->x)[args->at] ^= 1;", "x:ptr", "at:i64")
    module = device.load(poke.payload, "k", poke.signature)
    buffer, other = device.allocate(nbytes), device.allocate(nbytes)
    offset = {
        "first behind": nbytes,
        "first before": -1,
        "last behind": 4096 + GUARD_BYTES - 1,
        "last before": -GUARD_BYTES,
    }[where]
    for inside in (0, nbytes - 1):
        device.launch(module, {"x": buffer, "at": inside}, (1, 1, 1))
    assert buffer.guards_intact()
    device.launch(module, {"x": buffer, "at": offset}, (1, 1, 1))
    assert not buffer.guards_intact()
    device.launch(module, {"x": buffer, "at": offset}, (1, 1, 1))
    assert not buffer.guards_intact(), "writing it back does not undo it"
    assert other.guards_intact()


def test_adding_in_place_outside_is_seen(device, build):
    """The guard reads as NaN, and NaN + 1 is NaN: only a signalling NaN changes by it."""
    add = build("((float *)args->x)[args->n] += 1;", "x:ptr", "n:i32")
    buffer = device.allocate(40)
    device.launch(device.load(add.payload, "k", add.signature), {"x": buffer, "n": 10}, (1, 1, 1))
    assert not buffer.guards_intact()


@pytest.mark.parametrize("nbytes", [40, 41, 42, 43])
def test_reading_outside_poisons_the_result(device, build, nbytes):
    total = build("float *x = args->x; x[0] = x[args->n]; x[1] = x[-1];", "x:ptr", "n:i32")
    buffer = device.allocate(nbytes)
    first_outside = -(-nbytes // 4)
    device.launch(device.load(total.payload, "k", total.signature), {"x": buffer, "n": first_outside}, (1, 1, 1))
    assert np.isnan(buffer.bytes_[:8].view(np.float32)).all()


def test_a_worker_in_which_memory_was_damaged_is_replaced(device, build):
    """A write that hit a guard may have had company that hit the worker's own data."""
    count = build("static int calls; ((int *)args->x)[args->at] = ++calls;", "x:ptr", "at:i32")
    module = device.load(count.payload, "k", count.signature)
    buffer = device.allocate(4)
    seen = []
    for at in (0, 0, 1, 0):
        device.launch(module, {"x": buffer, "at": at}, (1, 1, 1))
        seen.append(int(buffer.bytes_.view(np.int32)[0]))
        buffer.guards_intact()
    assert seen == [1, 2, 2, 1]


def test_a_freed_buffer_cannot_be_used_and_freeing_twice_is_fine(device):
    buffer = device.allocate(16)
    view = buffer.bytes_
    buffer.free()
    buffer.free()
    view[:] = 1
    for use in (lambda: buffer.bytes_, buffer.guards_intact):
        with pytest.raises(ValueError, match=r"^this buffer was freed$"):
            use()


def test_freeing_gives_memory_back_in_the_worker_too(device, build):
    """A sweep allocates for every graph; the worker must not keep them all."""
    pid = build("*(int *)args->x = getpid();", "x:ptr")
    module = device.load(pid.payload, "k", pid.signature)
    for _ in range(5):
        buffer = device.allocate(1 << 20)
        device.launch(module, {"x": buffer}, (1, 1, 1))
        worker = int(buffer.bytes_.view(np.int32)[0])
        with open(f"/proc/{worker}/maps") as maps:
            assert maps.read().count("winnow-buffer") == 1
        buffer.free()


def test_buffers_that_nobody_frees_do_not_use_up_descriptors(device):
    device.allocate(16)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        device.allocate(16)
    assert len(os.listdir("/proc/self/fd")) <= before + 3


def test_more_memory_than_there_is_is_refused_before_it_is_taken(device, monkeypatch):
    """The system would end some process to find it, perhaps this one."""
    monkeypatch.setattr(guarded_memory, "available_bytes", lambda: 2 * GUARD_BYTES + 8191)
    device.allocate(4096)
    with pytest.raises(InputError) as caught:
        device.allocate(4097)
    expected = f"no memory for a buffer of {2 * GUARD_BYTES + 8192} bytes ({2 * GUARD_BYTES + 8191} are available)"
    assert str(caught.value) == f"{expected}\n  cure: free memory or take a smaller graph"


def test_a_refusal_of_the_system_is_an_error_too(device, monkeypatch):
    def full(descriptor, offset, nbytes):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(InputError) as caught:
        device.allocate(1)
    expected = f"no memory for a buffer of {2 * GUARD_BYTES + 4096} bytes: No space left on device"
    assert str(caught.value) == f"{expected}\n  cure: free memory or take a smaller graph"
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_negative_size_is_refused(device):
    with pytest.raises(ValueError, match=r"^a buffer of -1 bytes$"):
        device.allocate(-1)
