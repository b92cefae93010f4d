"""`fields:` says all about a metadata field in one place: the same manifest, with errors where they were written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine_files import FOREIGN_MANIFEST, POLICY_MANIFEST, foreign_engine

from winnow.errors import InputError
from winnow.settings.manifest import load_manifest

FIELDS = """\
fields:
  dtype: {type: string, vocabulary: {fp32: FLOAT, fp16: HALF}}
  width: {type: int}
  tile: {type: int, knob: true, divides: width}
  unroll: {type: int, default: 1}
  lanes: {type: int, method: lanes}
"""


def compact(text: str = FOREIGN_MANIFEST, fields: str = FIELDS) -> str:
    """A manifest with `fields:` in place of the sections that it stands for."""
    head, rest = text.split("kmd_fields:\n")
    body = "enumerate:\n" + rest.split("enumerate:\n")[1]
    kept = [line for line in body.splitlines() if not line.startswith(("  performance:", "  accessors:"))]
    return head.replace(", knobs: [tile]", "").replace(", knobs: [block]", "") + fields + "\n".join(kept) + "\n"


def refusal(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load_manifest(foreign_engine(tmp_path, text))
    return str(caught.value).replace(str(tmp_path), "DIR")


def test_one_place_gives_the_manifest_that_five_gave(tmp_path: Path):
    spelled_out = load_manifest(foreign_engine(tmp_path)).manifest
    assert load_manifest(foreign_engine(tmp_path, compact())).manifest == spelled_out


def test_a_field_has_its_accessor_beside_it(tmp_path: Path):
    fields = """\
fields:
  dtype: {type: string, vocabulary: {fp32: FLOAT}}
  block: {type: int, knob: true}
  persistent: {type: int, accessor: resolved_persistent}
"""
    spelled_out = load_manifest(foreign_engine(tmp_path, POLICY_MANIFEST)).manifest
    assert load_manifest(foreign_engine(tmp_path, compact(POLICY_MANIFEST, fields))).manifest == spelled_out


def test_knobs_have_the_fields_order_or_the_one_that_is_stated(tmp_path: Path):
    two = FIELDS.replace("width: {type: int}", "width: {type: int, knob: true}")
    assert load_manifest(foreign_engine(tmp_path, compact(fields=two))).manifest.engine.knobs == ["width", "tile"]
    first = two.replace("tile: {type: int, knob: true", "tile: {type: int, knob: 1")
    assert load_manifest(foreign_engine(tmp_path, compact(fields=first))).manifest.engine.knobs == ["tile", "width"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("tile: {type: int, knob: true, divides: width}", "tile: {type: int, knobb: true}"), (
            'DIR/engine.yaml:7: fields.tile.knobb: unknown key "knobb"\n  cure: did you mean "knob"?'
        )),
        (("lanes: {type: int, method: lanes}", "lanes: {type: int, method: lanes, field: lanes}"), (
            "DIR/engine.yaml:9: fields.lanes: say at most one of field, method and matcher_only "
            "(value: {'type': 'int', 'method': 'lanes', 'field': 'lanes'})"
        )),
        (("divides: width", "divides: widht"), (
            'DIR/engine.yaml:7: fields.tile.divides: "widht" is not a field of match\n  cure: did you mean "width"?'
        )),
        (("dtype: {type: string", "dtype: {type: string, knob: true"), (
            'DIR/engine.yaml:5: fields.dtype.knob: "dtype" is not a kmd field of type int'
        )),
        (("fields:\n", "fields: {}\nother:\n"), (
            "DIR/engine.yaml:4: fields: Dictionary should have at least 1 item after validation, not 0 (value: {})"
        )),
    ],
)  # fmt: skip
def test_an_error_stands_where_the_field_was_written(tmp_path: Path, edit: tuple[str, str], message: str):
    text = compact()
    assert edit[0] in text
    assert refusal(tmp_path, text.replace(*edit)) == message


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("kmd_fields: [{name: dtype, type: string}]\n", "kmd_fields"),
        ("specialization: {metadata_fields: [dtype]}\n", "specialization"),
    ],
)
def test_metadata_is_declared_in_one_form(tmp_path: Path, section: str, key: str):
    message = refusal(tmp_path, compact() + section)
    assert message.endswith(f"{key}: metadata is declared here and in fields\n  cure: say it in fields alone")


def test_the_schema_takes_either_form(winnow):
    _, out, _ = winnow("check", "--schema")
    schema = json.loads(out)
    assert schema["anyOf"] == [{"required": ["fields"]}, {"required": ["kmd_fields", "specialization"]}]
    assert schema["properties"]["fields"]["additionalProperties"] == {"$ref": "#/$defs/FieldEntry"}
    assert "performance" not in schema["$defs"]["Reduction"]["required"]


def test_a_selection_beside_its_manifest_needs_no_header(tmp_path: Path, winnow):
    path = foreign_engine(tmp_path, compact())
    assert winnow("enumerate", "-m", path)[0] == 0
    whole = (tmp_path / "selection.yaml").read_text()
    assert winnow("generate", "-m", path)[0] == 0
    catalog = {file.name: file.read_bytes() for file in (tmp_path / "catalog").iterdir()}
    (tmp_path / "selection.yaml").write_text("# by hand\n" + whole[whole.index("packs:") :])
    assert winnow("generate", "-m", path, "--check")[0] == 0
    assert winnow("diff", tmp_path / "selection.yaml", tmp_path / "catalog")[0] == 0
    code, out, _ = winnow("check", "-m", path, "header")
    assert code == 0
    assert "the selection leaves its header to the manifest" in out
    assert winnow("enumerate", "-m", path)[0] == 0
    again = (tmp_path / "selection.yaml").read_text()
    assert again.startswith("# by hand\npacks:")
    assert winnow("generate", "-m", path)[0] == 0
    assert catalog == {file.name: file.read_bytes() for file in (tmp_path / "catalog").iterdir()}


def test_a_selection_alone_states_its_engine(tmp_path: Path, winnow):
    file = tmp_path / "alone.yaml"
    file.write_text("packs: []\n")
    code, _, err = winnow("generate", "--selection", file, "-o", tmp_path / "out", "-m", tmp_path / "none.yaml")
    assert code == 2
    assert err == (
        f"winnow: {file}:1: states nothing of its engine, and no manifest is beside it\n"
        "  cure: keep the selection beside its engine.yaml, or state engine, kmd_fields and specialization in it\n"
    )
