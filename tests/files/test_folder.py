"""Two readers of one directory must see the same bytes, and nobody pays for a file that nobody asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from winnow.errors import InputError
from winnow.files import Folder


def test_a_file_is_read_when_it_is_first_asked_for_and_never_again(tmp_path: Path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "x.json").write_text("1")
    (tmp_path / "a-b.json").write_text("2")
    (tmp_path / "a" / "b" / "y").write_text("3")
    folder = Folder(tmp_path)
    assert list(folder) == ["a/b/y", "a/x.json", "a-b.json"]
    assert len(folder) == 3
    assert "a/b" not in folder
    assert folder["a/x.json"] == b"1"
    for path in (tmp_path / "a" / "x.json", tmp_path / "a-b.json"):
        path.write_text("changed")
    assert (folder["a/x.json"], folder["a-b.json"]) == (b"1", b"changed")


def test_a_directory_that_is_not_there_is_empty(tmp_path: Path):
    assert list(Folder(tmp_path / "none")) == []


def test_a_file_that_went_away_is_named_to_who_asks_for_it(tmp_path: Path):
    for name in ("gone", "here"):
        (tmp_path / name).write_text(name)
    folder = Folder(tmp_path)
    assert len(folder) == 2
    (tmp_path / "gone").unlink()
    assert folder["here"] == b"here"
    with pytest.raises(InputError) as error:
        _ = folder["gone"]
    assert str(error.value) == f"{tmp_path / 'gone'}: no such file"
