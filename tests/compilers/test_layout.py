"""The argument block: a wrong offset would hand a kernel the wrong pointer, and nothing else would notice."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.compilers.code_object import Argument
from winnow.compilers.layout import ARGUMENT_TYPES, argument_layout, block_size, parameters_of
from winnow.compilers.source import Parameter
from winnow.errors import InputError

_CTYPES = {"ptr": ctypes.c_void_p, "i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float}

parameter_lists = st.lists(st.sampled_from(sorted(ARGUMENT_TYPES)), max_size=12).map(
    lambda types: tuple(Parameter(f"a{i}", kind) for i, kind in enumerate(types))
)


@given(parameter_lists)
def test_every_offset_is_the_one_that_ctypes_computes(parameters):
    struct = type("Block", (ctypes.Structure,), {"_fields_": [(p.name, _CTYPES[p.type]) for p in parameters]})
    arguments = argument_layout(parameters)
    assert [(a.name, a.offset) for a in arguments] == [(p.name, getattr(struct, p.name).offset) for p in parameters]
    assert [a.size for a in arguments] == [ctypes.sizeof(_CTYPES[p.type]) for p in parameters]
    assert block_size(arguments) == ctypes.sizeof(struct)


@given(parameter_lists)
def test_an_argument_list_says_which_parameters_it_came_from(parameters):
    assert parameters_of(argument_layout(parameters)) == parameters


def test_a_pointer_is_a_buffer_and_a_number_keeps_its_type():
    assert argument_layout((Parameter("n", "i32"), Parameter("x", "ptr"))) == (
        Argument("by_value", 4, 0, "n", "i32"),
        Argument("global_buffer", 8, 8, "x", ""),
    )


def test_an_unknown_type_names_the_nearest_one():
    with pytest.raises(InputError) as caught:
        argument_layout((Parameter("n", "i_32"),))
    assert str(caught.value) == 'parameter "n" has the unknown type "i_32"\n  cure: did you mean "i32"?'


def test_two_parameters_of_one_name_are_refused():
    with pytest.raises(InputError) as caught:
        argument_layout((Parameter("n", "i32"), Parameter("n", "i64")))
    assert str(caught.value) == 'two parameters have the name "n"\n  cure: rename one of the two'
