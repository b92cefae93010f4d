"""Two of the same command at once in one engine: both trees whole, or one command says that the other runs.

`WINNOW_TEST_PAIRS=50 pytest tests/files/test_two_writers.py` starts fifty pairs of each.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from winnow.machine import child_environment
from winnow.targets.cpu import host_level

PAIRS = int(os.environ.get("WINNOW_TEST_PAIRS", "3"))

# The real command, held at the start until both are there: else most pairs would run one after the other.
COMMAND = """
import sys
import winnow.cli.generate, winnow.cli.pack
from winnow.cli.app import main
print("ready", flush=True)
sys.stdin.readline()
sys.argv[0] = "winnow"
main()
"""

REFUSAL = re.compile(
    r"winnow: \S+: another winnow \(process \d+, `winnow (generate|pack)[^`]*`\) is writing this directory\n"
    r"  cure: wait until it has ended, or end it; then run this again\n"
)


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def at_once(engine: Path, *commands: list[str]) -> list[tuple[int, str]]:
    """Start the commands, let them go together; exit code and stderr of each."""
    started = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", COMMAND, *command],
            cwd=engine,
            env=child_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for command in commands
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[1] for process in started]
    return [(process.returncode, text) for process, text in zip(started, said, strict=True)]


def judge(outcomes: list[tuple[int, str]]) -> str:
    """Both done, or one refused with the other's name; anything else fails."""
    for code, said in outcomes:
        assert code in (0, 2), said
        assert code == 0 or REFUSAL.fullmatch(said), said
    done = sum(code == 0 for code, _ in outcomes)
    assert done >= 1, outcomes
    return "both" if done == 2 else "one refused"


def hidden(root: Path) -> list[str]:
    return [str(path) for path in root.rglob(".*") if path.name != ".winnow"]


def test_pairs_of_generate_leave_a_whole_catalog(small_engine: Path):
    selection, other = small_engine / "selection.yaml", small_engine / "other.yaml"
    text = selection.read_text()
    other.write_text(text.replace("- name: ", "- name: other_", 1))
    wholes = []
    for file in (other, selection):
        assert at_once(small_engine, ["generate", "--selection", file.name])[0][0] == 0
        wholes.append(tree(small_engine / "catalog"))
    assert wholes[0] != wholes[1]
    seen: Counter[str] = Counter()
    for i in range(PAIRS):
        if i % 3 == 0:
            shutil.rmtree(small_engine / "catalog")
        second = [] if i % 2 else ["--selection", "other.yaml"]
        seen[judge(at_once(small_engine, ["generate"], ["generate", *second]))] += 1
        assert tree(small_engine / "catalog") in wholes[(1 if i % 2 else 0) :]
        assert hidden(small_engine) == []
    print(dict(seen))


@pytest.mark.slow
def test_pairs_of_pack_leave_a_whole_shard(small_engine: Path):
    archive = small_engine / "build" / "archive"
    whole = tree(archive)
    command = ["pack", "--arch", host_level()]
    seen: Counter[str] = Counter()
    for i in range(PAIRS):
        if i % 3 == 0:
            shutil.rmtree(archive)
        seen[judge(at_once(small_engine, command, command))] += 1
        assert tree(archive) == whole
        assert hidden(small_engine) == []
    print(dict(seen))
