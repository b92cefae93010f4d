"""A catalog is replaced as a whole, so nothing else may stand where it goes."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.parametrize("target", ["corpus", "notes"])
def test_a_directory_that_holds_no_catalog_is_left_as_it_is(target: str, small_engine: Path, winnow):
    folder = small_engine / target
    folder.mkdir(exist_ok=True)
    (folder / "precious.txt").write_text("mine")
    before = sorted(folder.iterdir())
    code, _, err = winnow("generate", "-m", small_engine / "engine.yaml", "-o", folder)
    assert code == 2
    assert err == (
        f"winnow: {folder}: holds something that is not a catalog, so it is not replaced\n"
        "  cure: name another directory, or remove what is there\n"
    )
    assert sorted(folder.iterdir()) == before


def test_an_empty_directory_and_a_catalog_are_replaced(small_engine: Path, winnow, tmp_path: Path):
    folder = tmp_path / "empty"
    folder.mkdir()
    for _ in range(2):
        assert winnow("generate", "-m", small_engine / "engine.yaml", "-o", folder)[0] == 0
    assert list(folder.glob("*.ued.json"))


def test_a_file_cannot_take_the_place_of_a_directory(small_engine: Path, winnow):
    folder = small_engine / "corpus"
    code, _, err = winnow("enumerate", "-m", small_engine / "engine.yaml", "-o", folder)
    assert code == 2
    assert err.startswith(f"winnow: {folder}: Is a directory")


def test_a_catalog_that_lost_files_is_made_anew(small_engine: Path, winnow):
    catalog = small_engine / "catalog"
    for file in catalog.glob("*.ued.json"):
        file.unlink()
    assert winnow("generate", "-m", small_engine / "engine.yaml")[0] == 0
    assert list(catalog.glob("*.ued.json"))


def test_an_engine_is_not_taken_for_the_catalog_that_lies_in_it(small_engine: Path, winnow, tmp_path: Path):
    code, _, err = winnow("generate", "-m", small_engine / "engine.yaml", "-o", small_engine)
    assert (code, "holds something that is not a catalog" in err) == (2, True)
    assert (small_engine / "engine.yaml").is_file()


def test_pack_leaves_a_directory_that_has_the_name_of_an_arch(small_engine: Path, winnow, tmp_path: Path):
    mine = tmp_path / "x86-64-v2"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    code, _, err = winnow("pack", "-m", small_engine / "engine.yaml", "--arch", "x86-64-v2", "-o", tmp_path)
    assert code == 2
    assert err.startswith(f"winnow: {mine}: holds something that is not a shard, so it is not replaced\n")
    assert (mine / "notes.txt").read_text() == "mine"


def test_reduce_leaves_another_engine_as_it_is(small_engine: Path, winnow):
    manifest = small_engine / "engine.yaml"
    assert winnow("sweep", "-m", manifest, "--rounds", "2")[0] == 0
    before = (small_engine / "selection.yaml").read_bytes()
    code, _, err = winnow("reduce", "-m", manifest, "-o", small_engine)
    assert code == 2
    assert err.startswith(
        f"winnow: {small_engine}: holds something that is not a reduced engine, so it is not replaced\n"
    )
    assert (small_engine / "selection.yaml").read_bytes() == before
