"""A crash may cost a file's new content, never its old; what a dead writer left is cleared away."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from dying import dies, each_death

from winnow.files import write_atomic
from winnow.files.atomic import PREFIX
from winnow.files.flock import take


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_write_replaces_and_leaves_nothing_beside(tmp_path: Path):
    path = tmp_path / "deep" / "f.txt"
    write_atomic(path, "one")
    write_atomic(path, b"two")
    assert path.read_text() == "two"
    assert names(path.parent) == ["f.txt"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "f.txt"
    write_atomic(path, "old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk")))
    with pytest.raises(OSError, match="disk"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["f.txt"]


def test_the_content_is_on_disk_before_the_name_is_its(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    calls: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr("winnow.files.atomic.os.fsync", lambda *given: (calls.append("fsync"), fsync(*given)))
    monkeypatch.setattr("winnow.files.atomic.os.replace", lambda *given: (calls.append("replace"), replace(*given)))
    write_atomic(tmp_path / "a.json", "new")
    assert calls == ["fsync", "replace"]


def test_a_failed_write_names_the_file_that_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("winnow.files.atomic.os.fsync", full)
    with pytest.raises(OSError, match="No space left on device") as error:
        write_atomic(tmp_path / "a.json", "new")
    assert error.value.filename == str(tmp_path / "a.json")


def test_a_writer_killed_at_any_call_leaves_the_old_file_or_the_new_one(tmp_path: Path):
    path = tmp_path / "f.txt"
    path.write_text("old")
    left = 0
    for _ in each_death(lambda: write_atomic(path, "new")):
        assert path.read_text() in ("old", "new")
        left = max(left, len(names(tmp_path)))
        assert not dies(lambda: write_atomic(path, "next"))
        assert (path.read_text(), names(tmp_path)) == ("next", ["f.txt"])
        path.write_text("old")
    assert left == 2
    assert (path.read_text(), names(tmp_path)) == ("new", ["f.txt"])


def test_a_living_writers_file_is_left_alone(tmp_path: Path):
    unfinished = tmp_path / f"{PREFIX}1-0"
    descriptor = os.open(unfinished, os.O_CREAT | os.O_WRONLY)
    assert take(descriptor)
    assert not dies(lambda: write_atomic(tmp_path / "f.txt", "x"))
    assert names(tmp_path) == [unfinished.name, "f.txt"]
    os.close(descriptor)
    assert not dies(lambda: write_atomic(tmp_path / "f.txt", "x"))
    assert names(tmp_path) == ["f.txt"]


def test_files_are_written_where_none_can_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fcntl.flock", lambda *_: (_ for _ in ()).throw(OSError(37, "No locks available")))
    write_atomic(tmp_path / "f.txt", "x")
    assert names(tmp_path) == ["f.txt"]
