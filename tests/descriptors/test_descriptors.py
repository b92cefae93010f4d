"""A descriptor that is read and written again must be the same bytes, or a catalog in use would change by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.descriptors.documents import DOCUMENTS
from winnow.descriptors.reading import document_text, read_descriptor
from winnow.errors import InputError
from winnow.strict.document import Document
from winnow.strict.schema import validate

DATA = Path(__file__).parent.parent / "data" / "hipdnn"
HEAD = {"version": "1.0", "id": "0f0e", "name": "n:E"}
UED = {**HEAD, "sdk_version": "1.0.0", "graph_match": {"native": "n.e.graph_match"}, "metadata": "k"}
UKD = {
    **HEAD,
    "kernel_source": {"kind": "rocke", "source": "a/b.py", "builder": "build", "spec": {"policy": None, "tile": 4}},
    "metadata": {"dtype": "BF16", "tile": 4, "scale": 1.0, "pads": [1, 2]},
    "priority": 0,
}
KDP = {**HEAD, "matchers": ["m"], "engine": "e", "dispatch": "d", "provenance": {"a": {"b": None}}}
EXAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("kmd", {**HEAD, "fields": [{"name": "dtype", "type": "string"}]}),
    ("kmd", {**HEAD, "fields": [{"name": "f", "type": "float", "default_value": 2.0}]}),
    ("kmd", {**HEAD, "fields": [{"name": "p", "type": "int_list", "default_value": [1, 2]}]}),
    ("ued", {**UED, "sort_kernel_catalog": {"default": "u"}, "knobs": ["tile"], "behavior_notes": []}),
    ("ued", {**HEAD, "graph_match": {"native": "g"}, "metadata": "k", "heuristic": "u"}),
    (
        "ued",
        {
            **HEAD,
            "revision": 3,
            **{k: v for k, v in UED.items() if k not in HEAD},
            "sort_kernel_catalog": {"default": "u", "gfx950": "v"},
            "predict_engine": {"gfx950": ["tflops", "time"]},
            "predict_applicable_kernels": {"default": "w"},
            "behavior_notes": ["runtime_compilation"],
            "numerical_notes": ["x"],
            "provenance": {"by": None},
            "x-winnow": {"family": "f", "match": {}},
            "x-other": [1, None],
            "_comment": "kept",
        },
    ),
    ("umd", {**HEAD, "scope": "kernel", "match_symbol": "n.kernel_match"}),
    ("umd", {**HEAD, "scope": "graph", "match_symbol": "n.add_match"}),
    ("udd", {**HEAD, "dispatch_symbol": "n.dispatch"}),
    ("uhd", {**HEAD, "adapter": "native", "objective": "max", "native": {"symbol": "n.score"}}),
    ("uhd", {**HEAD, "adapter": "static_order", "static_order": {"order": ["a", "b"]}}),
    ("uhd", {**HEAD, "adapter": "onnx", "objective": "min", "onnx": {"artifact": "m.onnx", "hash": "sha256:0"}}),
    ("uhd", {**HEAD, "adapter": "tree_data", "tree_data": {"artifact": "model.bin"}, "score": {"units": "ms"}}),
    (
        "uhd",
        {
            **HEAD,
            "adapter": "table",
            "objective": "max",
            "table": {"artifact": "t.bin"},
            "features_signature": ["$kernel.block_m", "$device.cu_count"],
            "features_hash": "sha256:0123456789abcdef",
            "trained_against": {"ued": {"id": "e", "revision": 1}},
            "categorical_encoding": {"$kernel.dtype": {"BF16": 0}},
            "score": {"metric": "tflops", "calibrated": False, "transform": "log"},
        },
    ),
    ("uhd", {**HEAD, "adapter": "custom_library", "custom_library": {"library": "l.so", "symbol": "s", "config": {}}}),
    ("ukd", {**UKD, "arch": ["gfx950"], "provenance": {"x": 1}}),
    ("kdp", {**KDP, "kernelDescriptors": [UKD, {**UKD, "id": "2", "arch": []}], "arch": ["gfx950"]}),
    ("kdp", {**KDP, "kernelDescriptors": [{k: v for k, v in UKD.items() if k != "version"}]}),
]


def text_of(record: dict[str, Any]) -> str:
    return json.dumps(record, indent=2) + "\n"


@pytest.mark.parametrize(("kind", "record"), EXAMPLES, ids=[kind for kind, _ in EXAMPLES])
def test_every_type_is_written_as_it_was_read(tmp_path: Path, kind: str, record: dict[str, Any]):
    path = tmp_path / f"some.{kind}.json"
    path.write_text(text_of(record))
    assert document_text(read_descriptor(path)) == text_of(record)


def test_every_type_has_an_example():
    assert {kind for kind, _ in EXAMPLES} == set(DOCUMENTS)


@pytest.mark.parametrize("name", ["older_gfx950_attention_dense.kmd.json", "older_gfx950_attention_dense.ued.json"])
def test_older_published_descriptors_lose_nothing(name: str):
    path = DATA / name
    assert document_text(read_descriptor(path)) == path.read_text()


_SCALARS = st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_ANY = st.recursive(
    _SCALARS | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@given(
    metadata=st.dictionaries(st.text(min_size=1), _SCALARS | st.lists(st.integers(-9, 9), max_size=3)),
    source=st.dictionaries(st.text(), _ANY),
    arch=st.none() | st.lists(st.text()),
)
def test_no_value_of_a_kernel_changes(metadata: dict[str, Any], source: dict[str, Any], arch: list[str] | None):
    record = {**UKD, "metadata": metadata, "kernel_source": source, **({} if arch is None else {"arch": arch})}
    text = text_of(record)
    assert document_text(validate(DOCUMENTS["ukd"], Document("k", json.loads(text), {}))) == text


def test_comments_are_passed_over_and_places_stay_true(tmp_path: Path):
    path = tmp_path / "a.udd.json"
    path.write_text(
        '{ // one\n "version": "1.0", /* two\n lines */ "id": "i", "name": "// no comment",\n "symbol": "s"}'
    )
    with pytest.raises(InputError) as error:
        read_descriptor(path)
    assert (
        str(error.value) == f'{path}:4: symbol: unknown key "symbol"\n  cure: known: dispatch_symbol, id, name, version'
    )
    path.write_text(path.read_text().replace('"symbol"', '"dispatch_symbol"'))
    assert read_descriptor(path).name == "// no comment"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.udd.json", "[]", "{path}: not a descriptor: the file holds no JSON object"),
        ("a.udd.json", '{"id": "i"}', '{path}: key "version" is missing\n  cure: state "1.0"'),
        (
            "a.udd.json",
            '{"version": "2.0", "id": "i", "name": "n", "dispatch_symbol": "s"}',
            "{path}:1: version: Input should be '1.0' (value: '2.0')",
        ),
        ("a.udd.json", '{"version": "1.0",}', "{path}:1: malformed JSON: Illegal trailing comma before end of object"),
        (
            "a.udb.json",
            "{}",
            '{path}: not a descriptor: its name is not <stem>.<type>.json\n  cure: did you mean "umd"?',
        ),
        (
            "a.ued.json",
            json.dumps({**UED, "revison": 1}),
            '{path}:1: revison: unknown key "revison"\n  cure: did you mean "revision"?',
        ),
        (
            "a.umd.json",
            json.dumps({**HEAD, "scope": "kernel", "match_symbol": "s", "x-winnow": {}}),
            '{path}:1: x-winnow: unknown key "x-winnow"\n  cure: known: id, match_symbol, name, scope, version',
        ),
    ],
)
def test_what_is_no_descriptor_is_named(tmp_path: Path, name: str, text: str, message: str):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_descriptor(path)
    found = str(error.value).replace(
        "Expecting property name enclosed in double quotes", "Illegal trailing comma before end of object"
    )
    assert found == message.format(path=path)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({**UED, "heuristic": "u", "sort_kernel_catalog": {"default": "u"}}, "has both heuristic and roles"),
        ({**HEAD, "adapter": "native", "table": {"artifact": "t"}}, "the adapter native needs exactly the body native"),
    ],
)
def test_bodies_that_contradict_are_refused(record: dict[str, Any], message: str):
    kind = "ued" if "metadata" in record else "uhd"
    with pytest.raises(InputError, match=message):
        validate(DOCUMENTS[kind], Document("f", record, {}))
