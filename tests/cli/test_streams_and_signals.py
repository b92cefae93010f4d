"""The command line with readers that leave, streams that are closed or full, and signals that ask it to end."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import shell, stand_in

from winnow.cli.commands import help_text


@pytest.mark.parametrize("line", ["winnow --help", "winnow check --help", "winnow plan -h", "winnow"])
def test_a_reader_that_leaves_early_gets_no_traceback(line):
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", *line.split()]
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (2 if line == "winnow" else 0, "")


def test_a_reader_that_leaves_early_does_not_pass_a_refusal(tmp_path: Path):
    for body, wanted in (("print('x' * 10); return 1", "1"), ("print('x\\n' * 10**6); return 0", "0")):
        words = stand_in(tmp_path, body)
        assert shell(f"({words}; echo $? >&2) | true") == (0, "", f"{wanted}\n")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("winnow --help >&-", 0),
        ("winnow --help 2>&-", 0),
        ("winnow --help <&- >&- 2>&-", 0),
        ("winnow paack 2>&-", 2),
        ("winnow paack >&- 2>&-", 2),
        ("winnow paack 2>/dev/full", 2),
        ("winnow plan -m nowhere.yaml >&- 2>/dev/full", 2),
    ],
)
def test_closed_streams_leave_the_exit_code(line, code):
    found, out, err = shell(line)
    assert found == code
    assert "Traceback" not in err
    assert "Exception" not in err
    assert out == ("" if ">&-" in line.replace("2>&-", "") or code else f"{help_text()}\n")


@pytest.mark.parametrize("line", ["winnow --help", "winnow --version", "winnow check --help", "winnow check --schema"])
def test_a_full_disk_is_exit_code_2(line):
    assert shell(f"{line} >/dev/full") == (
        2,
        "",
        "winnow: output: No space left on device\n  cure: make room on that file system\n",
    )


def test_a_file_that_is_opened_with_stdout_closed_is_not_stdout(tmp_path: Path):
    kept = tmp_path / "kept"
    words = stand_in(
        tmp_path, f"f = open({str(kept)!r}, 'w'); print('loud', flush=True); f.close(); return f.name == 1"
    )
    assert shell(f"{words} >&-")[0] == 0
    assert kept.read_text() == ""


def test_what_the_encoding_lacks_is_escaped(tmp_path: Path):
    words = stand_in(tmp_path, "print('caf\\u00e9 \\udcff'); return 0")
    assert shell(words, PYTHONIOENCODING="ascii")[:2] == (0, "caf\\xe9 \\udcff\n")
    assert shell(words, PYTHONIOENCODING="utf-8")[:2] == (0, "café \\udcff\n")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_asks_to_end_unwinds_and_ends_with_130(tmp_path: Path, sent):
    body = (
        "\n    try:\n        print('ready', flush=True)\n        time.sleep(60)\n"
        "    finally:\n        print('put away', flush=True)\n    return 0"
    )
    running = subprocess.Popen(
        shlex.split(stand_in(tmp_path, body)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run in the background or under `nohup` inherit signals that are ignored.
        preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    running.send_signal(sent)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "put away\n")
    assert err == "winnow: interrupted; what was done is kept, the same command resumes\n"


def test_nohup_holds_and_a_fork_ends_by_its_own_signal(tmp_path: Path):
    ignored = stand_in(tmp_path, "import signal; os.kill(os.getpid(), signal.SIGHUP); return 0")
    assert shell(f"trap '' HUP; {ignored}") == (0, "", "")
    forked = (
        "import signal\n    ends, starts = os.pipe()\n    child = os.fork()\n"
        "    if not child:\n        os.write(starts, b'.')\n        time.sleep(60)\n        os._exit(1)\n"
        "    os.read(ends, 1)\n    os.kill(child, signal.SIGTERM)\n"
        "    print(os.WTERMSIG(os.waitpid(child, 0)[1]))\n    return 0"
    )
    assert shell(stand_in(tmp_path, forked)) == (0, f"{int(signal.SIGTERM)}\n", "")
