"""A tree is the old one or the new one at every moment, whatever happens to its writer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from dying import dies, each_death

from winnow.errors import InputError
from winnow.files import Kind, carry_over, exchange, locked, staged_tree, write_atomic

OLD = {"old": "o", "both": "old"}
NEW = {"sub/new": "n", "both": "new"}


def write(target: Path, files: dict[str, str], then: Callable[[Path], None] = lambda staging: None) -> None:
    with locked(target, Kind("anything", ("*",)), wait_s=0) as lock, staged_tree(lock) as staging:
        for name, text in files.items():
            write_atomic(staging / name, text)
        then(staging)


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(params=["exchange", "rename twice"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the system's exchange, and without it."""
    if request.param == "rename twice":
        monkeypatch.setattr(exchange, "_renameat2", lambda: None)
    return str(request.param)


def test_a_new_tree_replaces_the_whole_old_one(tmp_path: Path, way: str):
    target = tmp_path / "out"
    write(target, OLD)
    assert tree(target) == OLD
    write(target, NEW)
    assert tree(target) == NEW
    assert names(tmp_path) == ["out"]


def test_a_writer_that_fails_keeps_the_old_tree(tmp_path: Path, way: str):
    write(tmp_path / "out", OLD)
    with pytest.raises(ZeroDivisionError):
        write(tmp_path / "out", NEW, lambda staging: print(1 // 0))
    assert tree(tmp_path / "out") == OLD
    assert names(tmp_path) == ["out"]


def test_folders_made_for_a_writer_that_fails_go_again(tmp_path: Path):
    with pytest.raises(ZeroDivisionError):
        write(tmp_path / "a" / "b" / "out", NEW, lambda staging: print(1 // 0))
    assert names(tmp_path) == []


def test_a_writer_killed_at_any_call_leaves_a_whole_tree(tmp_path: Path):
    target = tmp_path / "out"
    write(target, OLD)
    seen = []
    for _ in each_death(lambda: write(target, NEW)):
        seen.append(tree(target))
        assert seen[-1] in (OLD, NEW)
        assert not dies(lambda: write(target, OLD))
        assert tree(target) == OLD
        assert names(tmp_path) == ["out"]
    assert OLD in seen
    assert NEW in seen
    assert len(seen) > 30


def test_without_an_exchange_the_next_writer_repairs_even_if_it_fails_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exchange, "_renameat2", lambda: None)
    target = tmp_path / "out"
    write(target, OLD)
    gaps = 0
    for _ in each_death(lambda: write(target, NEW)):
        gaps += not target.exists()
        with pytest.raises(ZeroDivisionError):
            write(target, NEW, lambda staging: print(1 // 0))
        assert tree(target) in (OLD, NEW)
        assert names(tmp_path) == ["out"]
        write(target, OLD)
    assert gaps >= 1


def test_a_first_tree_killed_at_any_call_is_whole_or_not_there(tmp_path: Path, way: str):
    target = tmp_path / "deep" / "out"
    for _ in each_death(lambda: write(target, NEW)):
        assert not target.exists() or tree(target) == NEW
    assert tree(target) == NEW
    assert names(tmp_path / "deep") == ["out"]


def test_a_rename_that_fails_restores_the_old_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exchange, "_renameat2", lambda: None)
    write(tmp_path / "out", OLD)
    rename = os.rename

    def full(source: object, target: object) -> None:
        if ".staging-" in str(source):
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path / "out", NEW)
    assert tree(tmp_path / "out") == OLD
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("code", [1, 22, 38, 95])
def test_an_exchange_that_the_system_lacks_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int):
    monkeypatch.setattr(exchange, "_renameat2", lambda: lambda *_: -1)
    monkeypatch.setattr("ctypes.get_errno", lambda: code)
    write(tmp_path / "out", OLD)
    write(tmp_path / "out", NEW)
    assert tree(tmp_path / "out") == NEW


def test_an_exchange_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path / "out", OLD)
    monkeypatch.setattr(exchange, "_renameat2", lambda: lambda *_: -1)
    monkeypatch.setattr("ctypes.get_errno", lambda: 5)
    with pytest.raises(OSError, match="Input/output error"):
        write(tmp_path / "out", NEW)
    assert tree(tmp_path / "out") == OLD


def test_a_record_of_anything_else_is_dropped(tmp_path: Path):
    write(tmp_path / "out", OLD)
    (tmp_path / ".out.exchange").write_text("../elsewhere")
    write(tmp_path / "out", NEW)
    assert names(tmp_path) == ["out"]


def test_a_link_stays_a_link_and_its_directory_is_replaced(tmp_path: Path, way: str):
    write(tmp_path / "store" / "real", OLD)
    (tmp_path / "out").symlink_to("store/real")
    write(tmp_path / "out", NEW)
    assert (tmp_path / "out").is_symlink()
    assert tree(tmp_path / "store" / "real") == NEW
    assert (names(tmp_path), names(tmp_path / "store")) == (["out", "store"], ["real"])


def test_a_link_to_nothing_yet_is_followed(tmp_path: Path):
    (tmp_path / "out").symlink_to("store/real")
    write(tmp_path / "out", NEW)
    assert tree(tmp_path / "store" / "real") == NEW


def test_trees_of_similar_names_are_left_alone(tmp_path: Path):
    kept = [".out2.staging-1-a", ".out.staging.d", ".my.out.staging-1-a", ".out.stagings"]
    for name in [*kept, ".out.staging", ".out.retired", ".out.retired-1-a", ".out.staging-1-a"]:
        (tmp_path / name).mkdir()
    write(tmp_path / "out", NEW)
    assert names(tmp_path) == sorted([*kept, "out"])


def carrying(target: Path, files: dict[str, str]) -> None:
    with locked(target, Kind("anything", ("*",)), wait_s=0) as lock, staged_tree(lock) as staging:
        for name, text in files.items():
            write_atomic(staging / name, text)
        carry_over(lock, staging)


def test_what_has_no_namesake_is_carried_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    target = tmp_path / "out"
    write(target, {"catalog/stale": "x", "archive/v3/object": "big", "note": "mine"})
    (target / "archive" / "link").symlink_to("v3")
    (target / "gone").symlink_to("nowhere")
    inode = (target / "archive/v3/object").stat().st_ino
    carrying(target, {"catalog/new": "y"})
    expected = {"catalog/new": "y", "archive/v3/object": "big", "note": "mine"}
    assert tree(target) == expected
    assert (target / "archive/v3/object").stat().st_ino == inode
    assert ((target / "archive/link").readlink(), (target / "gone").readlink()) == (Path("v3"), Path("nowhere"))
    monkeypatch.setattr("os.link", lambda *_, **__: (_ for _ in ()).throw(OSError(1, "Operation not permitted")))
    carrying(target, {"catalog/new": "z"})
    assert tree(target) == {**expected, "catalog/new": "z"}


def test_carrying_over_loses_nothing_at_any_kill(tmp_path: Path):
    target = tmp_path / "out"
    old = {"catalog/stale": "x", "archive/v3/object": "big"}
    write(target, old)
    for _ in each_death(lambda: carrying(target, {"catalog/new": "y"})):
        assert tree(target) in (old, {"catalog/new": "y", "archive/v3/object": "big"})


def refusal(target: Path) -> str:
    with pytest.raises(InputError) as error:
        write(target, NEW)
    return str(error.value)


def test_a_file_is_not_replaced_by_a_tree(tmp_path: Path):
    (tmp_path / "out").write_text("mine")
    assert refusal(tmp_path / "out") == (
        f"{tmp_path}/out: is not a directory\n  cure: name a directory, or remove the file"
    )
    assert tree(tmp_path) == {"out": "mine"}


@pytest.mark.parametrize("named", [".", "..", "../here"])
def test_the_current_directory_is_not_pulled_from_under_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert refusal(Path(named)) == (
        f"{named}: holds the current directory, so it cannot be replaced\n"
        "  cure: name a directory of its own, or run the command elsewhere"
    )


def test_a_mount_point_is_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "out")
    assert refusal(tmp_path / "out") == (
        f"{tmp_path}/out: is a mount point, so it cannot be replaced\n  cure: name a directory below it"
    )
