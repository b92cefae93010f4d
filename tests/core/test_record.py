"""A file that is read by hand must be refused as precisely as one that a schema reads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from winnow.errors import InputError
from winnow.strict.json_reader import parse_json
from winnow.strict.record import Record, record_of

TEXT = """{"name": "x",
 "size": 3,
 "none": null,
 "words": ["a", 1],
 "inner": [{"height": 1}, 2]}"""


def record() -> Record:
    return record_of(parse_json(TEXT, "f.json"))


def test_values_of_their_type_are_given_back() -> None:
    found = record()
    assert (found.text("name"), found.integer("size"), found.text_if_any("none")) == ("x", 3, None)
    assert (found.text_if_any("name"), found.has("none"), found.has("name")) == ("x", False, True)
    assert found.only(("name", "size", "none", "words", "inner")) is found
    assert next(found.records("inner")).integer("height") == 1


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda r: r.text("nam"), 'f.json:1: nam: key "nam" is missing'),
        (lambda r: r.text("size"), "f.json:2: size: not a string (value: 3)"),
        (lambda r: r.integer("none"), "f.json:3: none: not an integer (value: None)"),
        (lambda r: r.texts("words"), "f.json:4: words[1]: not a string (value: 1)"),
        (lambda r: list(r.records("inner")), "f.json:5: inner[1]: not a mapping (value: 2)"),
        (lambda r: r.record("words"), "f.json:4: words: not a mapping (value: ['a', 1])"),
        (lambda r: r.items("name"), "f.json:1: name: not a list (value: 'x')"),
        (
            lambda r: r.only(("name", "size", "none", "words", "inner_")),
            'f.json:5: inner: unknown key "inner"\n  cure: did you mean "inner_"?',
        ),
        (lambda r: next(r.records("inner")).text("height"), "f.json:5: inner[0].height: not a string (value: 1)"),
        (lambda r: record_of(parse_json("[]", "g.json")), "g.json:1: not a mapping (value: [])"),
    ],
)
def test_other_values_are_refused_with_line_and_key(read: Callable[[Record], Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        read(record())
    assert str(error.value) == said


def test_long_values_are_cut() -> None:
    with pytest.raises(InputError) as error:
        record_of(parse_json('{"a": "' + "x" * 200 + '"}', "f")).integer("a")
    assert str(error.value).endswith("x...)")
    assert len(str(error.value)) < 120


WITHOUT_YAML = """
import sys
sys.modules["ruamel"] = sys.modules["ruamel.yaml"] = None
from winnow.errors import InputError
from winnow.strict.json_reader import parse_json
from winnow.strict.record import record_of
for text in ('{"a": 1, "a": 2}', '{"a": 1}'):
    try:
        record_of(parse_json(text, "f.json")).text("a")
    except InputError as error:
        print(str(error).partition(chr(10))[0])
"""


def test_where_no_yaml_reader_is_installed_errors_have_no_line() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_YAML], capture_output=True, text=True, check=True)
    assert done.stdout == 'f.json: duplicate key "a"\nf.json: a: not a string (value: 1)\n'
