"""Packing arguments: whatever does not fit must be an error before the launch, never a wrong number in the kernel."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.compilers.layout import argument_layout
from winnow.compilers.source import Parameter
from winnow.devices.argument_block import checked_grid, pack_arguments
from winnow.devices.guarded_memory import GuardedBuffer
from winnow.errors import InputError

_SIGNATURE = argument_layout(
    (Parameter("x", "ptr"), Parameter("n", "i32"), Parameter("stride", "i64"), Parameter("scale", "f32"))
)


@pytest.fixture
def buffer():
    opened = GuardedBuffer(7, 16, forget=lambda buffer: None, distrust=lambda: None)
    yield opened
    opened.free()


def refusal(buffer, **changes) -> str:
    arguments = {"x": buffer, "n": 1, "stride": 2, "scale": 0.5, **changes}
    with pytest.raises(InputError) as caught:
        pack_arguments(
            "k", _SIGNATURE, {name: value for name, value in arguments.items() if value is not ...}, [buffer]
        )
    return str(caught.value)


def test_numbers_lie_at_their_offsets_and_pointers_are_left_open(buffer):
    block = pack_arguments("k", _SIGNATURE, {"x": buffer, "n": -5, "stride": 2**40, "scale": 0.5}, [buffer])
    assert block.data == struct.pack("<QiiqfI", 0, -5, 0, 2**40, 0.5, 0)
    assert block.pointers == ((0, buffer),)


@given(value=st.integers(-(2**70), 2**70), kind=st.sampled_from(["i32", "i64"]))
def test_an_integer_arrives_exactly_or_not_at_all(value, kind):
    signature = argument_layout((Parameter("n", kind),))
    bits = {"i32": 31, "i64": 63}[kind]
    if -(2**bits) <= value < 2**bits:
        assert int.from_bytes(pack_arguments("k", signature, {"n": value}, []).data, "little", signed=True) == value
    else:
        with pytest.raises(InputError):
            pack_arguments("k", signature, {"n": value}, [])


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_float_arrives_as_numpy_would_round_it_or_not_at_all(value):
    signature = argument_layout((Parameter("s", "f32"),))
    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    if math.isfinite(value) and not np.isfinite(rounded):
        with pytest.raises(InputError):
            pack_arguments("k", signature, {"s": value}, [])
    else:
        assert np.array_equal(
            np.frombuffer(pack_arguments("k", signature, {"s": value}, []).data, np.float32), [rounded], equal_nan=True
        )


@pytest.mark.parametrize("value", [np.int32(3), np.int64(3), 3])
def test_numpys_integers_are_integers(buffer, value):
    assert pack_arguments("k", argument_layout((Parameter("n", "i32"),)), {"n": value}, []).data == struct.pack("<i", 3)


def test_a_missing_argument_is_named(buffer):
    assert refusal(buffer, n=...) == 'kernel "k": the argument "n" is missing'


def test_an_unknown_argument_names_the_nearest_one(buffer):
    assert refusal(buffer, strides=3) == 'kernel "k" has no argument "strides"\n  cure: did you mean "stride"?'


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 2**31}, 'the argument "n" must be a i32 (value: 2147483648)'),
        ({"n": 1.0}, 'the argument "n" must be a i32 (value: 1.0)'),
        ({"n": True}, 'the argument "n" must be a i32 (value: True)'),
        ({"n": "1"}, "the argument \"n\" must be a i32 (value: '1')"),
        ({"stride": -(2**63) - 1}, 'the argument "stride" must be a i64 (value: -9223372036854775809)'),
        ({"scale": 1e39}, 'the argument "scale" must be a f32 (value: 1e+39)'),
        ({"scale": None}, 'the argument "scale" must be a f32 (value: a NoneType)'),
        ({"x": 0}, 'the argument "x" must be a live buffer of this device (value: 0)'),
        ({"x": np.zeros(4)}, 'the argument "x" must be a live buffer of this device (value: a ndarray)'),
    ],
)
def test_a_value_that_does_not_fit_is_named(buffer, changes, message):
    assert refusal(buffer, **changes) == f'kernel "k": {message}'


def test_a_freed_buffer_is_refused(buffer):
    buffer.free()
    expected = 'kernel "k": the argument "x" must be a live buffer of this device (value: a GuardedBuffer)'
    assert refusal(buffer) == expected


def test_a_buffer_of_another_device_is_refused(buffer):
    """Its number may be that of a buffer of this one."""
    with pytest.raises(InputError) as caught:
        pack_arguments("k", argument_layout((Parameter("x", "ptr"),)), {"x": buffer}, [])
    expected = 'kernel "k": the argument "x" must be a live buffer of this device (value: a GuardedBuffer)'
    assert str(caught.value) == expected


def test_only_pointers_that_may_be_null_can_be_left_out(buffer):
    signature = argument_layout((Parameter("x", "ptr"), Parameter("scratch", "ptr")))
    block = pack_arguments("k", signature, {"x": buffer}, [buffer], ("scratch",))
    assert block.data == bytes(16)
    assert block.pointers == ((0, buffer),)
    both = pack_arguments("k", signature, {"x": buffer, "scratch": buffer}, [buffer], ("scratch",))
    assert both.pointers == ((0, buffer), (8, buffer))
    with pytest.raises(InputError) as caught:
        pack_arguments("k", signature, {"scratch": buffer}, [buffer], ("scratch",))
    assert str(caught.value) == 'kernel "k": the argument "x" is missing'


@pytest.mark.parametrize("grid", [(0, 1, 1), (1, -1, 1), (1, 1, 2**31), (1, 1), (1.0, 1, 1)])
def test_a_grid_that_no_kernel_can_run_is_refused(grid):
    with pytest.raises(InputError) as caught:
        checked_grid("k", grid)
    assert str(caught.value) == f'kernel "k": a grid is three integers from 1 to 2147483647 (value: {grid!r})'


def test_a_grid_becomes_plain_integers():
    assert [type(n) for n in checked_grid("k", (np.int64(3), 2, 1))] == [int] * 3
