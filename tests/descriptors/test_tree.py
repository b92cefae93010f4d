"""Trees of descriptors must be read in every form that loaders accept, and written back in the form that they had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted_descriptors import change, pack, to_own_file

from winnow.descriptors.tree import read_catalog
from winnow.errors import InputError


def on_disk(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.json")}


def test_an_authored_tree_is_written_back_as_it_was(small_engine: Path):
    assert read_catalog(small_engine / "catalog").files() == on_disk(small_engine / "catalog")


def test_a_packed_tree_is_written_back_as_it_was(small_engine: Path):
    shard = next((small_engine / "build" / "archive").iterdir())
    assert read_catalog(shard).files() == on_disk(shard)


def test_kernels_in_files_of_their_own_are_in_their_packs_and_stay_in_their_files(small_engine: Path, winnow):
    inline = read_catalog(small_engine / "catalog")
    own = to_own_file(small_engine, 1)
    catalog = read_catalog(small_engine / "catalog")
    assert [kernel for _, kernel in catalog.kernels()] == [kernel for _, kernel in inline.kernels()]
    assert [name for name, _ in catalog.ukds] == [own.name]
    assert catalog.files() == on_disk(small_engine / "catalog")
    manifest = small_engine / "engine.yaml"
    assert winnow("pack", "-m", manifest)[0] == 0
    assert winnow("check", "-m", manifest, "archive", "serves", "structure", "contract")[0] == 0


def test_a_heuristic_of_the_older_style_still_ranks(small_engine: Path):
    path = next((small_engine / "catalog").glob("*.ued.json"))
    before = read_catalog(small_engine / "catalog").ued[1]
    assert before.ranked
    change(path, lambda ued: ued.update(heuristic=ued.pop("sort_kernel_catalog")["default"]))
    after = read_catalog(small_engine / "catalog").ued[1]
    assert after.ranked
    assert [i for _, i in after.heuristics] == [i for _, i in before.heuristics]


def test_hidden_files_and_files_without_a_type_are_passed_over(small_engine: Path):
    catalog = small_engine / "catalog"
    before = read_catalog(catalog)
    (catalog / ".git").mkdir()
    (catalog / ".git" / "x.kdp.json").write_text("no JSON")
    (catalog / "notes.json").write_text("no JSON")
    (catalog / "kdp.json").write_text("no JSON")
    assert read_catalog(catalog) == before


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda kdp: kdp["matchers"].append("m"),
            "matchers[1]: m names no umd of this catalog (8 kernels depend on it)",
        ),
        (lambda kdp: kdp["kernelDescriptors"].append("k"), "kernelDescriptors[8]: k names no ukd of this catalog"),
    ],
)
def test_a_reference_to_nothing_is_refused(small_engine: Path, edit, message: str):
    path = pack(small_engine)
    count = len(json.loads(path.read_text())["kernelDescriptors"])
    change(path, edit)
    with pytest.raises(InputError) as error:
        read_catalog(small_engine / "catalog")
    expected = message.replace("8", str(count), 1)
    assert str(error.value) == f"{path}: {expected}\n  cure: run `winnow generate` to write the catalog anew"


def test_a_kernel_that_differs_from_the_one_in_its_own_file_is_a_clash(small_engine: Path):
    own = to_own_file(small_engine, 0)
    path = pack(small_engine)
    twin = {**json.loads(own.read_text()), "priority": 7}
    change(path, lambda kdp: kdp["kernelDescriptors"].__setitem__(0, twin))
    with pytest.raises(InputError, match="is also used in"):
        read_catalog(small_engine / "catalog")
