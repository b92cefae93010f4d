"""A file with a mistake must be refused with its place; a correct one must mean what it says."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.errors import InputError, Place, Refused, nearest
from winnow.identity import canonical_json, pretty_json
from winnow.strict.json_reader import load_json, parse_json
from winnow.strict.schema import StrictModel, validate
from winnow.strict.yaml_reader import load_yaml, parse_yaml


class Inner(StrictModel):
    height: int


class Outer(StrictModel):
    name: str
    inner: list[Inner] = []  # noqa: RUF012 - pydantic copies defaults


def refusal(call, *arguments) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments)
    return str(caught.value)


def test_words_that_yaml_1_1_took_for_booleans_stay_strings():
    data = parse_yaml(
        "{a: on, b: off, c: yes, d: no, e: y, f: true, g: 'true', h: ~, i: 012, j: 1e3, k: 0x10}", "f"
    ).data
    assert data == dict(a="on", b="off", c="yes", d="no", e="y", f=True, g="true", h=None, i=12, j=1000.0, k=16)


def test_duplicate_yaml_key_names_both_lines():
    assert refusal(parse_yaml, "a:\n  b: 1\n  c: 2\n  b: 3\n", "f.yaml") == (
        "f.yaml:4: a.b: duplicate key (first on line 2)\n  cure: keep one of the two"
    )


def test_duplicate_json_key_is_refused():
    assert refusal(parse_json, '{"a": {"b": 1,\n "b": 2}}', "f.json") == (
        "f.json:2: a.b: duplicate key (first on line 1)\n  cure: keep one of the two"
    )


def test_key_that_is_not_a_string_is_refused():
    assert (
        refusal(parse_yaml, "a:\n  1: x\n", "f.yaml") == "f.yaml:2: a: key '1' is not a string\n  cure: quote the key"
    )


def test_an_alias_is_the_value_that_it_stands_for():
    assert parse_yaml("a: &a [1, {b: 2}]\nc: *a\n", "f").data == {"a": [1, {"b": 2}], "c": [1, {"b": 2}]}


@pytest.mark.parametrize(
    ("text", "place"),
    [("x: 1\ny: &y [*y]\n", "f.yaml:2: y[0]"), ("a: &a\n  b:\n    c: *a\n", "f.yaml:3: a.b.c")],
)
def test_an_alias_in_a_circle_is_refused(text: str, place: str):
    assert refusal(parse_yaml, text, "f.yaml") == (
        f"{place}: an alias stands for something that it lies in\n  cure: write the value out"
    )


@pytest.mark.parametrize("levels", [6, 12, 40])
def test_a_few_lines_of_aliases_do_not_fill_the_memory(levels: int):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    said = refusal(parse_yaml, "\n".join(lines), "f.yaml")
    assert "aliases repeat more than 100,000 values\n  cure: use fewer aliases" in said


def test_malformed_yaml_has_a_line():
    assert refusal(parse_yaml, "a: [1,\nb: 2\n", "f.yaml").startswith("f.yaml:3: malformed YAML:")


def test_malformed_json_has_a_line():
    assert refusal(parse_json, '{"a": 1,\n  oops}', "f.json").startswith("f.json:2: malformed JSON:")


def test_json_with_a_byte_order_mark_says_how_to_save_it(tmp_path: Path):
    path = tmp_path / "space.json"
    path.write_text('{"a": 1}', encoding="utf-8-sig")
    with pytest.raises(InputError) as caught:
        load_json(path)
    assert str(caught.value) == (
        f"{path}:1: malformed JSON: it begins with a byte-order mark\n"
        '  cure: save it as UTF-8 without a byte-order mark ("UTF-8", not "UTF-8 with BOM")'
    )
    assert parse_yaml("\ufeffa: 1", "a.yaml").data == {"a": 1}


@pytest.mark.parametrize("text", ["", "   \n# only a comment\n"])
def test_empty_yaml_is_refused(text):
    assert refusal(parse_yaml, text, "f.yaml") == "f.yaml: the file is empty"


def test_not_a_number_is_refused_in_both_languages():
    assert "NaN is not JSON" in refusal(parse_json, '{"a": NaN}', "f")
    assert ".nan is not a finite number" in refusal(parse_yaml, "a: .nan", "f")


def test_missing_file_says_so(tmp_path: Path):
    missing = tmp_path / "nothing here.yaml"
    assert refusal(load_yaml, missing) == f"{missing}: no such file"


def test_binary_file_is_refused_without_a_traceback(tmp_path: Path):
    path = tmp_path / "f.json"
    path.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8 text" in refusal(load_json, path)


def test_compressed_yaml_reads_like_plain(tmp_path: Path):
    path = tmp_path / "f.yaml.gz"
    path.write_bytes(gzip.compress(b"a: 1\n"))
    assert load_yaml(path).data == {"a": 1}


def test_unknown_key_names_its_line_and_the_nearest_known_one():
    document = parse_yaml("name: x\ninner:\n- height: 1\n- height: 2\n  hieght: 2\n", "f.yaml")
    assert refusal(validate, Outer, document) == (
        'f.yaml:5: inner[1].hieght: unknown key "hieght"\n  cure: did you mean "height"?'
    )


def test_missing_key_names_where_it_belongs():
    document = parse_yaml("name: x\ninner:\n- {}\n", "f.yaml")
    assert refusal(validate, Outer, document) == 'f.yaml:3: inner[0].height: key "height" is missing'


def test_unknown_key_in_json_has_a_line_too():
    document = parse_json('{"name": "x",\n "inner": [{"height": 1,\n "depth": 2}]}', "f.json")
    assert refusal(validate, Outer, document) == (
        'f.json:3: inner[0].depth: unknown key "depth"\n  cure: known: height'
    )


def test_wrong_type_shows_the_value():
    document = parse_yaml("name: x\ninner:\n- height: tall\n", "f.yaml")
    assert refusal(validate, Outer, document) == (
        "f.yaml:3: inner[0].height: Input should be a valid integer (value: 'tall')"
    )


def test_error_survives_a_process_boundary():
    import pickle

    error = Refused("no", place=Place("f", 3, "a"), cure="do")
    assert str(pickle.loads(pickle.dumps(error))) == "f:3: a: no\n  cure: do"


def test_nearest_falls_back_to_what_is_known():
    assert nearest("gfx94", ["gfx942", "gfx1100"]) == 'did you mean "gfx942"?'
    assert nearest("zzz", ["a", "b"]) == "known: a, b"
    assert nearest("zzz", []) == "nothing is known here"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
def test_both_json_writers_read_back(value):
    assert parse_json(pretty_json(value), "f").data == value
    assert parse_json(canonical_json(value), "f").data == value
