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
        f"winnow: {folder}: this directory holds no catalog, so it is not replaced by one\n"
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
