"""A number format or a comparison that two places knew differently would let a wrong kernel through."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.compilers.layout import ARGUMENT_TYPES
from winnow.compilers.triton_types import ARGUMENT_TYPES as TRITON_TYPES
from winnow.dtypes import FORMATS, OF_ARGUMENTS, OF_TRITON
from winnow.families.halves import held, numbers, representable
from winnow.graphs.kinds import DATA_TYPES
from winnow.operators import OPERATORS, comparison


@pytest.mark.parametrize("row", FORMATS.values(), ids=str)
def test_every_name_of_a_format_means_its_size(row) -> None:
    assert np.dtype(row.numpy).itemsize == row.bytes
    if row.argument:
        assert struct.calcsize(row.struct) == ctypes.sizeof(getattr(ctypes, row.ctypes)) == row.bytes
    if not row.integer and not row.held_as_bits:
        assert np.finfo(row.numpy).eps / 2 == row.unit_roundoff
    assert np.issubdtype(np.dtype(row.numpy), np.integer) == (row.integer or row.held_as_bits)


def test_every_table_has_the_rows_of_the_one_table() -> None:
    assert DATA_TYPES == ("float", "half", "bfloat16", "double", "int8", "int32", "uint8", "unset")
    assert sorted(OF_TRITON) == ["bf16", "fp16", "fp32", "i32", "i64", "i8"]
    assert sorted(TRITON_TYPES) == sorted([*(f"*{name}" for name in OF_TRITON), "fp32", "i32", "i64"])
    assert {name: known.spelling for name, known in ARGUMENT_TYPES.items()} == {
        "ptr": "void *",
        "i32": "int32_t",
        "i64": "int64_t",
        "f32": "float",
    }
    assert sorted(OF_ARGUMENTS) == ["f32", "i32", "i64"]


@given(st.floats(2.0**-10, 2.0**10, width=32), st.sampled_from([r.name for r in FORMATS.values() if not r.integer]))
def test_a_number_is_held_within_its_format_s_roundoff(value: float, data_type: str) -> None:
    exact = np.array([value], np.float32)
    back = numbers(held(representable(exact, data_type), data_type), data_type)
    assert abs(float(back[0]) - value) <= FORMATS[data_type].unit_roundoff * value


def test_the_table_of_formats_imports_no_numpy() -> None:
    code = "import sys, winnow.dtypes, winnow.operators; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.integers(1, 64), st.integers(-2, 64))
def test_each_operator_decides_as_its_words_say(asked: int, offered: int) -> None:
    means = {
        "equal": asked == offered,
        "multiple_of": offered >= 1 and asked in range(0, 65, offered),
        "at_most": not asked > offered,
    }
    assert {name: row.admits(asked, offered) for name, row in OPERATORS.items() if row.admits} == means


@pytest.mark.parametrize(
    ("spelled", "means"),
    [("equal", ("equal", None)), ("any", ("any", None)), ({"at_most": "f"}, ("at_most", "f"))],
)
def test_spelled_comparisons(spelled: object, means: tuple[str, str | None]) -> None:
    assert comparison(spelled) == means


@pytest.mark.parametrize(
    ("spelled", "said"),
    [
        ("equall", 'no comparison is spelled so; did you mean "equal"?'),
        ("multiple_of", "no comparison is spelled so; known: any, equal"),
        (3, "say equal, any, or one operator with its metadata field, as {multiple_of: tile}"),
        ({"any": "f"}, "say {equal: F}, {multiple_of: F} or {at_most: F} with a metadata field F"),
        ({"equal": 3}, "say {equal: F}, {multiple_of: F} or {at_most: F} with a metadata field F"),
    ],
)
def test_other_spellings_say_what_may_be_written(spelled: object, said: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        comparison(spelled)
    assert str(error.value) == said
