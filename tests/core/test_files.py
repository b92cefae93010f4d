"""A crash may cost a file's new content, never its old."""

from __future__ import annotations

from pathlib import Path

import pytest

from winnow.files import staged_directory, write_atomic


def test_write_replaces_and_leaves_nothing_beside(tmp_path: Path):
    path = tmp_path / "deep" / "f.txt"
    write_atomic(path, "one")
    write_atomic(path, b"two")
    assert path.read_text() == "two"
    assert [p.name for p in path.parent.iterdir()] == ["f.txt"]


def test_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "f.txt"
    write_atomic(path, "old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk")))
    with pytest.raises(OSError, match="disk"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f.txt"]


def test_staged_directory_replaces_the_whole_tree(tmp_path: Path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "stale").write_text("x")
    with staged_directory(target) as staging:
        (staging / "fresh").write_text("y")
    assert [p.name for p in target.iterdir()] == ["fresh"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_failed_stage_keeps_the_old_tree(tmp_path: Path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").write_text("x")

    def half_way() -> None:
        with staged_directory(target) as staging:
            (staging / "half").write_text("y")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half_way()
    assert [p.name for p in target.iterdir()] == ["old"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
