"""Reading objects back: an archive comes from elsewhere, so any bytes must give an answer or an error that says why."""

from __future__ import annotations

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from winnow.compilers.c import compile_c
from winnow.compilers.elf_note import read_back, read_note
from winnow.compilers.layout import ARGUMENT_TYPES, argument_layout, parameters_of
from winnow.compilers.source import CSource, Parameter
from winnow.errors import InputError

_HEAD = "void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)"
_PARAMETERS = (Parameter("x", "ptr"), Parameter("n", "i32"))
_AGAIN = "\n  cure: pack the catalog again"


@pytest.fixture(scope="module")
def payload(toolchain):
    source = CSource("kernel", f"{_HEAD} {{ *(int *)args->x = args->n; }}", _PARAMETERS)
    return compile_c(source, "x86-64-v2", toolchain).payload


def refusal(payload: bytes, symbol: str = "kernel") -> str:
    with pytest.raises(InputError) as caught:
        read_back(payload, symbol)
    return str(caught.value)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.from_regex(r"a_[A-Za-z0-9_]{0,20}", fullmatch=True), unique=True, max_size=20),
    data=st.data(),
)
def test_any_signature_survives_compiling_and_linking(toolchain, names, data):
    parameters = tuple(Parameter(name, data.draw(st.sampled_from(sorted(ARGUMENT_TYPES)))) for name in names)
    compiled = compile_c(CSource("k", f"{_HEAD} {{}}", parameters), "x86-64-v2", toolchain)
    assert compiled.signature == argument_layout(parameters)


def test_the_note_says_what_built_the_object(payload, toolchain):
    note = read_note(payload)
    assert (note.symbol, note.target) == ("kernel", "x86-64-v2")
    assert (note.toolchain.kind, note.toolchain.version) == (toolchain.kind, toolchain.version)
    assert len(note.flags) == 64


def test_resources_are_counted_from_the_object(toolchain):
    tables = "static const int table[100] = {1}; static int big[1000];"
    text = f"{tables}\n{_HEAD} {{ int i = args->n; big[i] += table[i]; }}"
    resources = compile_c(CSource("k", text, _PARAMETERS), "x86-64-v2", toolchain).resources
    assert 400 <= resources["rodata_bytes"] < 600
    assert 4000 <= resources["data_bytes"] < 4200
    mathematical = f"float expf(float);\n{_HEAD} {{ *(float *)args->x = expf(args->n); }}"
    more = compile_c(CSource("k", mathematical, _PARAMETERS), "x86-64-v2", toolchain).resources
    assert more["needed_libraries"] == resources["needed_libraries"] + 1


def test_the_object_of_another_kernel_is_refused(payload):
    assert refusal(payload, "other") == f'the object holds the kernel "kernel", not "other"{_AGAIN}'


def test_a_symbol_that_is_not_exported_is_refused(payload):
    hidden = payload.replace(b"\0kernel\0", b"\0kermit\0")
    assert refusal(hidden) == f'the object does not export the function "kernel"{_AGAIN}'


def test_a_shared_object_of_someone_else_is_refused(toolchain, payload):
    note = payload.index(b"Winnow\0")
    renamed = payload.replace(b".note.winnow\0", b".note.winter\0")
    cure = "\n  cure: only objects that Winnow compiled can be read"
    assert refusal(renamed) == f"the object has no .note.winnow note{cure}"
    owned = payload[:note] + b"Window\0" + payload[note + 7 :]
    assert refusal(owned) == f"malformed code object: its note is not one of Winnow's{_AGAIN}"


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\n", bytes(10_000)])
def test_bytes_that_are_no_object_are_refused(data):
    assert refusal(data).startswith("malformed code object: ")


def test_an_object_for_another_machine_is_refused(payload):
    arm = payload[:18] + (183).to_bytes(2, "little") + payload[20:]
    assert refusal(arm) == f"malformed code object: it is not a shared object for x86-64{_AGAIN}"


def _with_note(payload: bytes, **changes: object) -> bytes:
    """The object with a note of the same size in which values differ."""
    raw = msgpack.packb(read_note(payload).model_dump())
    assert payload.count(raw) == 1
    changed = msgpack.packb({**read_note(payload).model_dump(), **changes})
    assert len(changed) == len(raw)
    return payload.replace(raw, changed)


def test_a_note_of_a_later_schema_is_refused(payload):
    later = _with_note(payload, schema_version=2)
    assert refusal(later) == f"malformed code object: its note has the schema 2, this Winnow reads 1{_AGAIN}"


def test_a_note_whose_offsets_do_not_fit_the_types_is_refused(payload):
    """Launching by it would put a pointer where a number belongs."""
    arguments = [a.model_dump() for a in read_note(payload).arguments]
    arguments[1]["offset"] = 12
    shifted = _with_note(payload, arguments=arguments)
    assert refusal(shifted) == f"malformed code object: its arguments do not lie as their types require{_AGAIN}"


def test_a_note_with_a_value_of_the_wrong_kind_names_it(payload):
    arguments = [a.model_dump() for a in read_note(payload).arguments]
    arguments[0]["offset"] = False
    expected = "malformed code object: its note does not fit at arguments.0.offset: Input should be a valid integer"
    assert refusal(_with_note(payload, arguments=arguments)) == expected + _AGAIN


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_damaged_bytes_give_an_object_or_a_clear_error(payload, data):
    """Nothing else: no traceback, and no read outside the file."""
    damaged = bytearray(payload[: data.draw(st.integers(0, len(payload)))] if data.draw(st.booleans()) else payload)
    interesting = st.one_of(
        st.integers(0, 0x500), st.integers(len(payload) - 1200, len(payload)), st.integers(0, len(payload))
    )
    for position in data.draw(st.lists(interesting, min_size=1, max_size=8)):
        if position < len(damaged):
            damaged[position] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
    try:
        found = read_back(bytes(damaged), "kernel")
    except InputError:
        return
    assert found.symbol == "kernel"
    assert argument_layout(parameters_of(found.signature)) == found.signature
