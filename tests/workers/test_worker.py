"""A worker answers in order, dies alone, and a late answer is nobody's."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from processes import ended

from winnow.workers.process import Program, Worker, WorkerFault

_MODULE = """
import os, signal, subprocess, sys, time

def start(greeting):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return greeting, answer

def answer(message, descriptor):
    if message == "pid":
        return os.getpid()
    if message == "child":
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid
    if message == "read":
        return os.pread(descriptor, 100, 0).decode()
    word, _, rest = message.partition(" ")
    if word == "sleep":
        time.sleep(float(rest))
    if word == "apart":
        with subprocess.Popen(["sleep", "600"], start_new_session=True) as child:
            with open(rest, "w") as file:
                file.write(str(child.pid))
            try:
                child.wait()
            finally:
                child.kill()
    if word == "says":
        print(rest, flush=True)
    if word == "exit":
        print("last words", flush=True)
        os._exit(int(rest))
    if word == "kill":
        os.kill(os.getpid(), int(rest))
    if word == "unsendable":
        return lambda: None
    return message
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    (tmp_path / "echoing.py").write_text(_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return Program("echoing", ("hello",))


@pytest.fixture
def worker(program: Program) -> Iterator[Worker]:
    started = Worker(program)
    yield started
    started.end()


def test_it_greets_and_answers(worker: Worker) -> None:
    assert worker.hello == "hello"
    assert [worker.request(word, 20) for word in ("one", "two")] == ["one", "two"]
    assert worker.alive()


def test_a_message_may_be_larger_than_any_buffer_of_the_system(worker: Worker) -> None:
    large = "x" * (5 << 20)
    assert worker.request(large, 20) == large


def test_a_descriptor_travels_with_a_message(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("what it holds")
    with path.open() as file:
        assert worker.request("read", 20, file.fileno()) == "what it holds"


def test_numbers_of_requests_begin_again(worker: Worker) -> None:
    worker._number = (1 << 16) - 2
    assert [worker.request(word, 20) for word in "abc"] == ["a", "b", "c"]


def test_a_late_answer_is_never_taken_for_the_next_one(program: Program, worker: Worker) -> None:
    pid = worker.request("pid", 20)
    with pytest.raises(WorkerFault) as fault:
        worker.request("sleep 600", 0.2)
    assert (fault.value.kind, fault.value.cause) == ("timeout", "gave no answer within 0.2 s")
    assert ended(pid)
    assert not worker.alive()
    following = Worker(program)
    assert following.request("sleep 0", 20) == "sleep 0"
    following.end()


def test_an_answer_to_another_request_ends_the_conversation(worker: Worker) -> None:
    """As a stray write into the channel could make one."""
    worker._channel.send(7, "early")
    with pytest.raises(WorkerFault) as fault:
        worker.request("pid", 20)
    assert (fault.value.kind, fault.value.cause) == ("crash", "broke off the conversation")


@pytest.mark.parametrize(
    ("message", "cause", "said", "killed_by"),
    [
        ("exit 3", "exited with status 3", "last words\n", None),
        (f"kill {signal.SIGABRT.value}", "died of SIGABRT", "", signal.SIGABRT),
        (
            f"kill {signal.SIGKILL.value}",
            "died of SIGKILL (the system ends a process so when memory runs out)",
            "",
            signal.SIGKILL,
        ),
        (f"kill {signal.SIGRTMIN + 3}", f"died of signal {signal.SIGRTMIN + 3}", "", signal.SIGRTMIN + 3),
    ],
)
def test_a_death_says_what_it_was(worker: Worker, message: str, cause: str, said: str, killed_by: int | None) -> None:
    with pytest.raises(WorkerFault) as caught:
        worker.request(message, 20)
    fault = caught.value
    assert (fault.kind, fault.cause, fault.said, fault.killed_by) == ("crash", cause, said, killed_by)
    assert not worker.alive()


def test_what_an_earlier_request_wrote_is_not_the_cause_of_a_later_death(worker: Worker) -> None:
    assert worker.request("says nothing of importance", 20)
    with pytest.raises(WorkerFault) as fault:
        worker.request("exit 3", 20)
    assert fault.value.said == "last words\n"


def test_the_limit_is_for_the_whole_answer_and_not_for_each_piece(worker: Worker) -> None:
    """A worker that keeps sending a little must not hold up the run for ever."""
    ours, theirs = socket.socketpair()
    worker._channel.socket.close()
    worker._channel.socket = ours

    def dribble() -> None:
        with contextlib.suppress(OSError):
            theirs.sendall(struct.pack("<HHQ", 1, 0, 1000))
            for _ in range(1000):
                theirs.sendall(b"x")
                time.sleep(0.02)

    thread = threading.Thread(target=dribble)
    thread.start()
    with pytest.raises(WorkerFault) as fault:
        worker.request("one", 0.3)
    assert fault.value.kind == "timeout"
    theirs.close()
    thread.join()


def test_an_answer_that_cannot_be_sent_says_why(worker: Worker) -> None:
    with pytest.raises(WorkerFault) as fault:
        worker.request("unsendable", 20)
    assert fault.value.cause == "exited with status 1"
    assert "<lambda>" in fault.value.said


def test_what_a_worker_started_ends_with_it(worker: Worker) -> None:
    child = worker.request("child", 20)
    worker.end()
    assert ended(child)
    worker.end()


def test_a_worker_that_runs_too_long_may_end_what_it_started_in_another_session(
    program: Program, tmp_path: Path
) -> None:
    """As a compiler runs; no signal to the worker's group reaches it."""
    worker = Worker(replace(program, grace_s=20.0))
    with pytest.raises(WorkerFault, match="timeout"):
        worker.request(f"apart {tmp_path / 'pid'}", 10)
    assert ended(int((tmp_path / "pid").read_text()))
    assert not worker.alive()


def test_a_module_that_does_not_start_says_why(program: Program) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(WorkerFault) as fault:
        Worker(Program("echoing", ()))
    assert fault.value.cause == "exited with status 1"
    assert fault.value.said.endswith("TypeError: start() missing 1 required positional argument: 'greeting'\n")
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_a_worker_wrote_before_anybody_asked_is_kept(program: Program) -> None:
    def wait_for_its_death(worker: Worker) -> None:
        while worker.alive():
            time.sleep(0.01)

    with pytest.raises(WorkerFault) as fault:
        Worker(Program("echoing", ()), begun=wait_for_its_death)
    assert fault.value.said.endswith("TypeError: start() missing 1 required positional argument: 'greeting'\n")


def test_a_process_that_the_system_refuses_is_a_fault(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(WorkerFault) as fault:
        Worker(program)
    assert fault.value.cause == "cannot be started: No such file or directory"
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_isolated_worker_imports_nothing_of_the_users(program: Program) -> None:
    with pytest.raises(WorkerFault) as fault:
        Worker(Program("echoing", ("hello",), isolated=True))
    assert fault.value.said.endswith("ModuleNotFoundError: No module named 'echoing'\n")


def test_ctrl_c_is_for_the_parent(worker: Worker) -> None:
    os.kill(worker.pid, signal.SIGINT)
    assert worker.request("one", 20) == "one"
