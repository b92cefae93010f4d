"""Of two writers of one directory, the later one waits or is told whom it waits for; a dead one keeps nobody out."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from winnow.errors import InputError
from winnow.files import Kind, locked, staged_tree
from winnow.files import lock as lock_module

ANYTHING = Kind("anything", ("*",))


@contextlib.contextmanager
def other_writer(target: Path, command: str, seconds: float = 60) -> Iterator[int]:
    """A process that holds the lock of `target`; killed at the end."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            sys.argv = ["/somewhere/bin/winnow", *command.split()]
            with locked(target, ANYTHING, wait_s=0):
                os.write(tell, b"x")
                time.sleep(seconds)
        finally:
            os._exit(0)
    assert os.read(ready, 1) == b"x"
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def refusal(target: Path, wait_s: float = 0) -> str:
    with pytest.raises(InputError) as error, locked(target, ANYTHING, wait_s=wait_s):
        pass
    assert error.value.exit_code == 2
    return str(error.value)


CURE = "\n  cure: wait until it has ended, or end it; then run this again"


@pytest.mark.parametrize("wait_s", [0, 0.2])
def test_the_second_writer_is_told_who_the_first_is(tmp_path: Path, wait_s: float):
    target = tmp_path / "catalog"
    with other_writer(target, "generate -o catalog") as pid:
        assert refusal(target, wait_s) == (
            f"{target}: another winnow (process {pid}, `winnow generate -o catalog`) is writing this directory{CURE}"
        )
    with locked(target, ANYTHING, wait_s=0):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_long_command_is_cut(tmp_path: Path):
    with other_writer(tmp_path / "out", f"generate {'x' * 200}"):
        assert f"`winnow generate {'x' * 64}…`" in refusal(tmp_path / "out")


def test_a_wait_is_told_and_ends_with_the_other_writer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lock_module, "_UNNOTICED_S", 0)
    target = tmp_path / "catalog"
    with other_writer(target, "generate", seconds=3) as pid, locked(target, ANYTHING, wait_s=60):
        pass
    assert capsys.readouterr().err == (
        f"winnow: {target}: waiting, because another winnow (process {pid}, `winnow generate`) "
        "is writing this directory\n"
    )


def test_a_killed_writers_lock_is_taken_over(tmp_path: Path):
    with other_writer(tmp_path / "out", "pack") as pid:
        said = json.loads((tmp_path / ".out.lock").read_text())
    assert (tmp_path / ".out.lock").exists()
    assert (said["pid"], said["command"], said["host"]) == (pid, "winnow pack", os.uname().nodename)
    assert said["since"].endswith("+00:00")
    with locked(tmp_path / "out", ANYTHING, wait_s=0):
        assert json.loads((tmp_path / ".out.lock").read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_a_link_and_what_it_leads_to_are_one_directory(tmp_path: Path):
    (tmp_path / "link").symlink_to("real")
    with other_writer(tmp_path / "real", "pack"):
        assert "another winnow" in refusal(tmp_path / "link")


def test_directories_beside_each_other_are_written_at_once(tmp_path: Path):
    with other_writer(tmp_path / "archive" / "v3", "pack"), locked(tmp_path / "archive" / "v4", ANYTHING, wait_s=0):
        pass


def test_nobody_writes_above_or_below_another(tmp_path: Path):
    above, below = tmp_path / "reduced", tmp_path / "reduced" / "archive" / "v3"
    with other_writer(above, "reduce") as pid:
        assert refusal(below) == (
            f"{below}: another winnow (process {pid}, `winnow reduce`) is writing {above}, in which it lies{CURE}"
        )
    with other_writer(below, "pack") as pid:
        assert refusal(above) == (
            f"{above}: another winnow (process {pid}, `winnow pack`) is writing {below}, which lies in it{CURE}"
        )
    with locked(above, ANYTHING, wait_s=0):
        pass


@pytest.mark.parametrize("said", ["", "{", "[1]", '{"pid": "1"}', "[" * 5000])
def test_a_holder_that_does_not_say_its_name(tmp_path: Path, said: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lock_module, "_NAMELESS_S", 0)
    with other_writer(tmp_path / "out", "pack"):
        (tmp_path / ".out.lock").write_text(said)
        assert refusal(tmp_path / "out") == f"{tmp_path}/out: another winnow is writing this directory{CURE}"


def test_a_holder_elsewhere_is_named_with_its_machine(tmp_path: Path):
    with other_writer(tmp_path / "out", "pack"):
        said = {"pid": 7, "command": "winnow \x1b[2J", "host": "node-3", "since": "2026-01-01T00:00:00+00:00"}
        (tmp_path / ".out.lock").write_text(json.dumps(said))
        assert "(process 7 on node-3, `winnow ?[2J`)" in refusal(tmp_path / "out")


def test_a_lock_removed_by_hand_stops_the_writer(tmp_path: Path):
    def write() -> None:
        with locked(tmp_path / "out", ANYTHING, wait_s=0) as lock, staged_tree(lock) as staging:
            (staging / "file").write_text("x")
            (tmp_path / ".out.lock").unlink()

    with pytest.raises(InputError) as error:
        write()
    assert str(error.value) == (
        f"{tmp_path}/.out.lock: the lock was removed while this command wrote\n"
        "  cure: run it again, and leave the lock to it"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fcntl.flock", lambda *_: (_ for _ in ()).throw(OSError(37, "No locks available")))
    assert refusal(tmp_path / "deep" / "out") == (
        f"{tmp_path}/deep/out: cannot be locked: No locks available\n"
        "  cure: name a directory on a file system that has room and file locks"
    )
