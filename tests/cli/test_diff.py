"""Two catalogs that differ must never look the same, and the same one in two forms must not look different."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from engine_files import POLICY_MANIFEST, foreign_engine
from hypothesis import given
from hypothesis import strategies as st

from winnow.descriptors.diff import Item, difference


@pytest.fixture
def twins(tmp_path: Path, winnow) -> tuple[Path, Path]:
    """Two equal engines."""
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        path = foreign_engine(tmp_path / name)
        assert winnow("enumerate", "-m", path)[0] == 0
        assert winnow("generate", "-m", path)[0] == 0
        made.append(tmp_path / name)
    return made[0], made[1]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_selection_its_catalog_and_its_copy_are_equal(twins: tuple[Path, Path], winnow):
    a, b = twins
    for left, right in ((a / "catalog", b / "catalog"), (a / "selection.yaml", b / "catalog")):
        assert winnow("diff", left, right) == (0, "20 equal, 0 added, 0 removed, 0 changed\n", "")
    pack = next((a / "catalog").glob("*gfx950*.kdp.json"))
    assert winnow("diff", pack, b / "catalog" / pack.name)[0] == 0
    assert winnow("diff", pack, b / "catalog")[0] == 1
    assert winnow("diff", pack, b / "catalog", "--subset")[0] == 0


def test_what_changed_is_told_field_by_field(twins: tuple[Path, Path], winnow):
    a, b = twins
    path = next((b / "catalog").glob("*gfx950*.kdp.json"))
    document = json.loads(path.read_text())
    kernels = document["kernelDescriptors"]
    gone, moved, changed = kernels[0], kernels[1], kernels[2]
    kernels.append({**gone, "name": "new", "id": "x", "metadata": {**gone["metadata"], "tile": 8}})
    kernels.remove(gone)
    old_name, moved["name"] = moved["name"], "other"
    changed["kernel_source"]["spec"]["tile"] = 8
    changed["priority"] = 41
    path.write_text(json.dumps(document))
    code, out, _ = winnow("diff", a / "catalog", b / "catalog")
    assert code == 1
    assert out == (
        "+ new\n"
        f"- {gone['name']}\n"
        f"~ {changed['name']}\n"
        "    priority: 40 → 41\n"
        "    spec.tile: 64 → 8\n"
        f"~ {old_name}\n"
        f'    name: "{old_name}" → "other"\n'
        "17 equal, 1 added, 1 removed, 2 changed\n"
        "changed in: name 1, arch 0, metadata 0, priority 1, kind 0, source 0, builder 0, spec 1\n"
    )
    told = json.loads(winnow("diff", a / "catalog", b / "catalog", "--json")[1])
    assert told["added"] == ["new"]
    assert told["changed"][0]["fields"] == {"priority": [40, 41], "spec.tile": [64, 8]}
    assert {part for part, count in told["changed_in"].items() if count} == {"name", "priority", "spec"}


def test_another_kind_of_source_is_another_kernel(twins: tuple[Path, Path], winnow):
    a, b = twins
    path = next((b / "catalog").glob("*gfx950*.kdp.json"))
    document = json.loads(path.read_text())
    document["kernelDescriptors"][0]["kernel_source"]["kind"] = "rocke"
    path.write_text(json.dumps(document))
    code, out, _ = winnow("diff", a / "catalog", b / "catalog")
    assert code == 1
    assert out.endswith(
        '    kind: "c" → "rocke"\n19 equal, 0 added, 0 removed, 1 changed\n'
        "changed in: name 0, arch 0, metadata 0, priority 0, kind 1, source 0, builder 0, spec 0\n"
    )


def test_subset_accepts_more_and_refuses_less(twins: tuple[Path, Path], winnow):
    a, b = twins
    edit(
        b / "engine.yaml",
        "{when: {width: 64}, knobs: [{tile: [16, 64]",
        "{when: {width: 64}, knobs: [{tile: [16, 32, 64]",
    )
    assert winnow("enumerate", "-m", b / "engine.yaml")[0] == 0
    assert winnow("diff", a / "selection.yaml", b / "selection.yaml")[0] == 1
    assert winnow("diff", a / "selection.yaml", b / "selection.yaml", "--subset")[0] == 0
    assert winnow("diff", b / "selection.yaml", a / "selection.yaml", "--subset")[0] == 1


def test_a_default_that_is_written_out_is_no_difference_to_strict_spec(tmp_path: Path, winnow):
    path = foreign_engine(tmp_path, POLICY_MANIFEST)
    assert winnow("enumerate", "-m", path)[0] == 0
    ours, theirs = tmp_path / "selection.yaml", tmp_path / "theirs.yaml"
    text = ours.read_text()
    assert "spec_order: [dtype, block, persistent]" in text
    defaults = "spec_defaults:\n      dtype: fp32\n"
    assert defaults in text
    theirs.write_text(text.replace(defaults, defaults + "      persistent: null\n", 1))
    code, out, _ = winnow("diff", ours, theirs)
    assert code == 1
    assert '    spec.persistent: "(not stated)" → null\n' in out
    assert winnow("diff", ours, theirs, "--strict-spec", "-m", path)[0] == 0


def test_a_packed_tree_is_compared_by_what_was_authored(small_engine: Path, winnow):
    archive = small_engine / "build" / "archive"
    assert winnow("diff", small_engine / "selection.yaml", archive)[0] == 0
    edit(small_engine / "selection.yaml", "reg_m: 4", "reg_m: 3")
    code, out, _ = winnow("diff", archive, small_engine / "selection.yaml", "--by", "metadata")
    assert code == 1
    assert "8 equal, 2 added, 2 removed, 0 changed" in out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "no such file or directory"),
        ("notes.txt", "is not a selection (.yaml), a pack (.kdp.json), a catalog directory or a packed tree"),
    ],
)
def test_what_is_no_set_of_kernels_is_unusable(twins: tuple[Path, Path], winnow, name: str, message: str):
    a, _ = twins
    (a / "notes.txt").write_text("x")
    assert winnow("diff", a / name, a / "catalog") == (2, "", f"winnow: {a / name}: {message}\n")


def test_an_empty_directory_is_unusable(twins: tuple[Path, Path], winnow, tmp_path: Path):
    shutil.rmtree(twins[0] / "catalog")
    (twins[0] / "catalog").mkdir()
    assert winnow("diff", twins[0] / "catalog", twins[1] / "catalog")[0] == 2


items = st.lists(
    st.builds(
        lambda name, tile, priority: Item(
            f"k{name}", "c", "m", "b", {"tile": tile}, {"tile": tile}, priority, ("gfx950",)
        ),
        st.integers(0, 5),
        st.integers(0, 3),
        st.integers(0, 1),
    ),
    max_size=6,
    unique_by=lambda item: item.name,
)


@given(items, items)
def test_a_difference_accounts_for_every_kernel_and_turns_round(ours: list[Item], theirs: list[Item]):
    for by in ("name", "metadata"):
        found = difference(ours, theirs, by)
        assert found.equal + len(found.changed) + len(found.removed) == len(ours)
        assert found.equal + len(found.changed) + len(found.added) == len(theirs)
        back = difference(theirs, ours, by)
        assert (len(back.added), len(back.removed)) == (len(found.removed), len(found.added))
        assert difference(ours, ours, by).is_empty()
