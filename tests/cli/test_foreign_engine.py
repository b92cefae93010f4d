"""A registry that never heard of Winnow, and a manifest: that must be enough for every command up to the compiler."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from engine_files import FOREIGN_MANIFEST, POLICY_MANIFEST, foreign_engine

COPIES = [
    {"dtype": "fp32", "width": 64, "_provenance": {"graph": "copy_small"}},
    {"dtype": "fp16", "width": 96},
    {"dtype": "fp32", "width": 8192},
    {"dtype": "fp32", "width": 128},
]


def shapes_file(tmp_path: Path, records: object, name: str = "c.shapes.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(records))
    return path


def edited(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.fixture
def engine(tmp_path: Path, winnow) -> Path:
    path = foreign_engine(tmp_path)
    assert winnow("enumerate", "-m", path)[0] == 0
    assert winnow("generate", "-m", path)[0] == 0
    return path


def test_enumerate_prints_a_ledger_that_adds_up(tmp_path: Path, winnow):
    path = foreign_engine(tmp_path)
    code, out, err = winnow("enumerate", "-m", path)
    assert (code, err) == (0, "")
    assert re.sub(r"\([0-9a-f]{16}\)", "(KEY)", out) == (
        "  asked        24\n"
        "  selected     20\n"
        "  refused       2\n"
        "  duplicate     2\n"
        "  over budget   0\n"
        "  2  refused    tile 64 does not divide the width 96\n"
        "  1  duplicate  the same spec as another knob set (KEY)\n"
        "  1  duplicate  the same spec as another knob set (KEY)\n"
        f"{tmp_path}/selection.yaml: 20 kernels\n"
    )
    told = json.loads(winnow("enumerate", "-m", path, "--json")[1])
    assert told["counts"] == {"selected": 20, "refused": 2, "duplicate": 2, "over budget": 0}
    assert sum(entry["points"] for entry in told["ledger"]) == 24


def test_plan_says_that_no_space_is_told_and_that_the_budget_holds(engine: Path, winnow):
    code, out, _ = winnow("plan", "-m", engine)
    assert code == 0
    assert "the candidate has no tuning space" in out
    assert out.endswith("budget: everything selected is within it\n")


def test_check_passes_what_can_be_known_without_a_family(engine: Path, winnow):
    code, out, _ = winnow("check", "-m", engine, "header", "registry", "budget", "regeneration")
    assert code == 0
    assert out.count("passed") == 4
    code, out, _ = winnow("check", "-m", engine, "vocabulary", "coverage")
    assert code == 3
    assert 'incomplete  family "copy" is not installed, so nothing says how its graphs spell things' in out
    assert "coverage.shapes names no file" in out


def test_every_shape_is_outside_declined_covered_or_a_gap(engine: Path, winnow, tmp_path: Path):
    file = shapes_file(tmp_path, COPIES)
    code, out, _ = winnow("coverage", "-m", engine, "--shapes", file, "--json")
    assert code == 1
    told = json.loads(out)
    assert told["counts"] == {"outside": 0, "declined": 2, "covered": 4, "GAP": 2}
    by_shape = {(one["shape"], one["arch"]): one for one in told["results"]}
    assert by_shape["copy_small", "gfx950"] == {
        "shape": "copy_small",
        "arch": "gfx950",
        "outcome": "covered",
        "reason": "copy_tiled",
        "kernels": 4,
    }
    assert by_shape["c[2]", "gfx950"]["reason"] == "copy_tiled: rows wider than 4096 need the other kernel"
    assert by_shape["c[3]", "gfx942"]["outcome"] == "GAP"


def test_a_gap_is_named_with_the_line_of_its_shape(engine: Path, winnow, tmp_path: Path):
    file = tmp_path / "c.shapes.json"
    file.write_text('[\n {"dtype": "fp32", "width": 64},\n {"dtype": "fp32", "width": 128}\n]\n')
    code, out, _ = winnow("coverage", "-m", engine, "--shapes", file, "--arch", "gfx950")
    assert code == 1
    assert (
        "  GAP c[1] on gfx950: copy_tiled serves it; of 10 kernels copy_tiled.fp32_wi64_ti16_un1.gfx950 comes nearest: "
        f"width=128 is not equal to width=64  [{file}:3: [1]]\n"
    ) in out
    file.write_text('[{"dtype": "fp32", "width": 64}]')
    assert winnow("coverage", "-m", engine, "--shapes", file)[0] == 0


def test_a_shape_that_no_capability_takes_is_outside_and_nothing_served_is_no_pass(tmp_path: Path, winnow):
    path = foreign_engine(
        tmp_path, edited(POLICY_MANIFEST, ("match:", "coverage: {values: {mask_type: {'0': {}}}}\nmatch:"))
    )
    assert winnow("enumerate", "-m", path)[0] == 0
    file = shapes_file(tmp_path, [{"dtype": "fp16", "rows": 8, "mask_type": 0}])
    code, out, _ = winnow("coverage", "-m", path, "--shapes", file)
    assert code == 1
    assert (
        "  1 outside: sum_fast: opt-in: pin its algorithm to reach it; sum_rows: capability: dtype fp16\n"
        "  nothing of this corpus is served by the registry, so nothing was checked\n"
    ) in out


MASKED = """\
coverage:
  values: {mask_type: {"0": {mask_type: 0}, "1": {mask_type: 1}, "2": {mask_type: 3}, "3": never}}
match:"""


@pytest.mark.parametrize(
    ("mask", "outcome", "reason"),
    [(1, "covered", "sum_rows"), (2, "covered", "sum_rows"), (3, "outside", "mask_type=3: never")],
)
def test_mask_numbers_are_translated(tmp_path: Path, winnow, mask: int, outcome: str, reason: str):
    """The registry's 2 is a mask that it refuses; the corpus's 2 is another one."""
    path = foreign_engine(tmp_path, edited(POLICY_MANIFEST, ("match:", MASKED)))
    assert winnow("enumerate", "-m", path)[0] == 0
    file = shapes_file(tmp_path, [{"dtype": "fp32", "rows": 8, "mask_type": mask}])
    told = json.loads(winnow("coverage", "-m", path, "--shapes", file, "--json")[1])
    assert [(one["outcome"], one["reason"]) for one in told["results"]] == [(outcome, reason)]


@pytest.mark.parametrize(
    ("edit", "records", "message"),
    [
        (
            ("match:", "match:"),
            [{"dtype": "fp32", "rows": 8, "mask_type": 2}],
            "DIR/c.shapes.json:1: [0]: nothing says what mask_type=2 means: numbers of mask_type differ between miners "
            "and registries\n  cure: translate every value in coverage.values.mask_type of the manifest",
        ),
        (
            ("match:", MASKED),
            [{"dtype": "fp32", "rows": 8, "mask_type": 7}],
            "DIR/c.shapes.json:1: [0]: mask_type=7 has no translation\n"
            "  cure: add it to coverage.values.mask_type of the manifest; known: 0, 1, 2, 3",
        ),
        (
            ("match:", "match:"),
            [{"dtype": "fp32", "nrows": 8}],
            'DIR/c.shapes.json:1: [0]: "nrows" of this shape is not a field of foreign_policy:SumRequest\n'
            "  cure: rename it in coverage.fields, or translate its values in coverage.values; "
            'did you mean "rows"?',
        ),
        (
            ("match:", "match:"),
            [{"dtype": "fp32"}],
            "DIR/c.shapes.json:1: [0]: foreign_policy:SumRequest takes no such request: "
            "SumRequest.__init__() missing 1 required positional argument: 'rows'",
        ),
        (
            ("match:", "match:"),
            [],
            "DIR/c.shapes.json: no shape in this file\n  cure: a check over nothing checks nothing",
        ),
        (("match:", "match:"), {}, "DIR/c.shapes.json: a shapes file is a list of records"),
        (("match:", "match:"), [1], "DIR/c.shapes.json:1: [0]: a shape is a record, not 1"),
        (
            ("match:", "match:"),
            [{"rows": None}],
            "DIR/c.shapes.json:1: [0].rows: None is not a number, text or boolean",
        ),
    ],
)
def test_what_cannot_be_translated_is_unusable_input(tmp_path: Path, winnow, edit, records, message: str):
    path = foreign_engine(tmp_path, edited(POLICY_MANIFEST, edit))
    assert winnow("enumerate", "-m", path)[0] == 0
    code, out, err = winnow("coverage", "-m", path, "--shapes", shapes_file(tmp_path, records))
    assert (code, out) == (2, "")
    assert err.replace(str(tmp_path), "DIR") == f"winnow: {message}\n"


def test_two_keys_of_one_request_field_must_agree(tmp_path: Path, winnow):
    path = foreign_engine(
        tmp_path, edited(POLICY_MANIFEST, ("match:", "coverage: {fields: {q: rows, k: rows}}\nmatch:"))
    )
    assert winnow("enumerate", "-m", path)[0] == 0
    file = shapes_file(tmp_path, [{"dtype": "fp32", "q": 8, "k": 8}, {"dtype": "fp32", "q": 8, "k": 9}])
    told = json.loads(winnow("coverage", "-m", path, "--shapes", file, "--json")[1])
    assert [(one["outcome"], one["reason"]) for one in told["results"]] == [
        ("covered", "sum_rows"),
        ("outside", "q=8 and k=9 are one field of a request, rows"),
    ]


def test_shapes_that_the_manifest_names_are_what_the_gate_checks(tmp_path: Path, winnow):
    text = edited(FOREIGN_MANIFEST, ("match:", 'coverage: {shapes: ["*.shapes.json"]}\nmatch:'))
    path = foreign_engine(tmp_path, text)
    assert winnow("enumerate", "-m", path)[0] == 0
    code, out, _ = winnow("check", "-m", path, "coverage")
    assert code == 2
    assert 'engine.yaml:30: coverage.shapes[0]: no file matches "*.shapes.json"' in out
    file = shapes_file(tmp_path, COPIES)
    code, out, _ = winnow("check", "-m", path, "coverage")
    assert code == 1
    assert "coverage  refused     4 problems: 2 declined, 4 covered, 2 GAP\n    c[3]: copy_tiled serves it; " in out
    file.write_text(json.dumps(COPIES[:3]))
    assert winnow("check", "-m", path, "coverage")[0] == 0


def test_nothing_to_cover_is_unusable_input(engine: Path, winnow):
    code, _, err = winnow("coverage", "-m", engine)
    assert code == 2
    assert err == (
        "winnow: there is nothing to cover\n  cure: name a file with --shapes or a directory with --corpus\n"
    )
