"""What a person wrote into a selection is worth more than what a command can write anew: it must stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_files import FOREIGN_MANIFEST, foreign_engine
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.selection.comments import keep_comments
from winnow.strict.yaml_reader import parse_yaml

OLD = """\
# who to ask: the kernels' owners
engine: {name: "t:E"}  # one line
packs:
- name: a
  # the tiles of the paper
  knob_sets:
    tiles:
    - {block: 64}  # measured twice
    # too wide for small chips
    - {block: 128, tag: "#2"}
  shapes:
  - {dtype: bf16, knobs: tiles}
  # asked for in March
  - {dtype: fp16, knobs: tiles}
# the end
"""


def test_comments_stay_at_what_they_were_written_at():
    new = """\
engine: {name: "t:E"}
packs:
- name: z
  shapes:
  - {dtype: bf16, knobs: knobs0}
- name: a
  knob_sets:
    knobs0:
    - {block: 32}
    - {block: 64}
    - {block: 128, tag: "#2"}
  shapes:
  - {dtype: fp16, knobs: knobs0}
"""
    text, lost = keep_comments(OLD, new, "s.yaml")
    assert lost == []
    assert (
        text
        == """\
# who to ask: the kernels' owners
engine: {name: "t:E"}  # one line
packs:
- name: z
  shapes:
  - {dtype: bf16, knobs: knobs0}
- name: a
  # the tiles of the paper
  knob_sets:
    knobs0:
    - {block: 32}
    - {block: 64}  # measured twice
    # too wide for small chips
    - {block: 128, tag: "#2"}
  shapes:
  # asked for in March
  - {dtype: fp16, knobs: knobs0}
# the end
"""
    )


def test_a_comment_follows_an_item_that_says_less_now():
    """Fewer kernels: `unroll` has one value left, and moved to spec_defaults."""
    old = """\
variants:
- name: a
  spec_defaults: {vec: 8}
  knob_sets:
    knobs0:
    - {block: 64, unroll: 1}  # fast
    - {block: 64, unroll: 2}  # faster
    - {block: 128, unroll: 2}  # wide
"""
    new = """\
variants:
- name: a
  spec_defaults: {vec: 8, unroll: 2}
  knob_sets:
    knobs0:
    - {block: 64}
    - {block: 128}
"""
    text, lost = keep_comments(old, new, "s.yaml")
    assert text == new.replace("{block: 64}", "{block: 64}  # faster").replace("{block: 128}", "{block: 128}  # wide")
    assert lost == ["# fast"]


def test_a_comment_goes_to_no_item_where_two_would_do():
    old = "arms:\n- {block: 64, unroll: 1}  # fast\n"
    new = "arms:\n- {block: 64, unroll: 1, vec: 4}\n- {block: 64, unroll: 1, vec: 8}\n"
    assert keep_comments(old, new, "s.yaml") == (new, ["# fast"])


def test_a_comment_whose_item_is_gone_is_told():
    new = OLD.replace("- {dtype: fp16, knobs: tiles}", "- {dtype: fp64, knobs: tiles}")
    new = "\n".join(line for line in new.splitlines() if not line.strip().startswith("# asked")) + "\n"
    assert keep_comments(OLD, new, "s.yaml")[1] == ["# asked for in March"]


def test_a_text_without_comments_is_left_alone():
    assert keep_comments("a: 1\n", "a: 2\n", "s.yaml") == ("a: 2\n", [])


words = st.text("abc #'\"", min_size=1, max_size=8)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 99), words, st.booleans()), min_size=1, max_size=8, unique_by=lambda t: t[0]))
def test_a_rewrite_of_the_same_data_keeps_every_comment(rows):
    lines = ["items:"]
    for number, comment, above in rows:
        if above:
            lines += [f"# {comment}", f"- {{n: {number}}}"]
        else:
            lines.append(f"- {{n: {number}}}  # {comment}")
    old = "\n".join(lines) + "\n"
    plain = "items:\n" + "".join(f"- {{n: {number}}}\n" for number, _, _ in reversed(rows))
    text, lost = keep_comments(old, plain, "s.yaml")
    assert lost == []
    assert parse_yaml(text, "s.yaml").data == parse_yaml(plain, "s.yaml").data
    assert all(f"# {comment}".strip() in text for _, comment, _ in rows)


def test_enumerating_again_keeps_comments_and_the_rest_is_the_same(tmp_path: Path, winnow):
    path = foreign_engine(tmp_path)
    selection = tmp_path / "selection.yaml"
    assert winnow("enumerate", "-m", path)[0] == 0
    fresh = selection.read_text()
    remark = fresh.replace("    - {tile: 64, unroll: 1}\n", "    - {tile: 64, unroll: 1}  # the fast one\n", 1)
    remark = "# reviewed\n" + (
        remark if remark != fresh else fresh.replace("    shapes:", "    # shapes\n    shapes:", 1)
    )
    selection.write_text(remark)
    assert winnow("enumerate", "-m", path)[0] == 0
    assert selection.read_text() == remark


def test_a_lost_comment_is_said_on_stderr(tmp_path: Path, winnow):
    path = foreign_engine(tmp_path)
    selection = tmp_path / "selection.yaml"
    assert winnow("enumerate", "-m", path)[0] == 0
    text = selection.read_text()
    assert "width: 96" in text
    line = next(line for line in text.splitlines() if "width: 96" in line)
    selection.write_text(text.replace(line, f"{line}  # keep me", 1))
    path.write_text(
        FOREIGN_MANIFEST.replace("width: [64, 96]", "width: [64]")
        .replace("  - {when: {width: 96, arch: gfx950}, knobs: [{tile: [32, 64]}]}\n", "")
        .replace("  - {when: {width: 96, arch: gfx942}, knobs: [{tile: 32}, {tile: 32, unroll: 1}]}\n", "")
    )
    code, _, err = winnow("enumerate", "-m", path)
    assert code == 0
    assert err == f"winnow: {selection}: what this comment stood at is gone: # keep me\n"


@pytest.mark.parametrize("name", ["selection.yaml", "selection.yaml.gz"])
def test_a_compressed_selection_is_as_good_as_a_plain_one(tmp_path: Path, winnow, name: str):
    path = foreign_engine(tmp_path)
    assert winnow("enumerate", "-m", path, "-o", tmp_path / name)[0] == 0
    first = (tmp_path / name).read_bytes()
    assert winnow("enumerate", "-m", path, "-o", tmp_path / name)[0] == 0
    assert (tmp_path / name).read_bytes() == first
    assert winnow("generate", "-m", path)[0] == 0
    code, out, _ = winnow("check", "-m", path, "header", "registry", "budget", "regeneration")
    assert (code, out.count("passed")) == (0, 4)
