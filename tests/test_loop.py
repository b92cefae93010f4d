"""The loop as a user runs it: it ends well, gives the same bytes everywhere, and survives being killed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_engine import manifest_text

from winnow.targets.cpu import host_level

COMMAND = [sys.executable, "-c", "from winnow.cli.app import main; main()"]


def tree_digests(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_the_demo_ends_with_every_gate_passed(
    small_engine: Path, tmp_path: Path, winnow, monkeypatch: pytest.MonkeyPatch
):
    def copy(name: str, target: Path) -> int:
        shutil.copytree(small_engine / "corpus", target / "corpus")
        shutil.copy(small_engine / "engine.yaml", target / "engine.yaml")
        return 5

    monkeypatch.setattr("winnow.steps.demo.copy_engine", copy)
    code, out, err = winnow("demo", tmp_path / "with a space", "-j", "2")
    assert code == 0, out + err
    for stage in ("count", "enumerate", "generate", "pack", "sweep", "reduce", "repack", "check", "report"):
        assert f"  {stage} " in out
    for row in ("legal variants in the full space", "variants kept", "geomean", "time-weighted", "worst graph"):
        assert row in out
    assert "graphs served and passed" in out
    assert "5 of 5" in out
    assert "refused" not in out.replace("0 refused", "").replace("refused,", "")
    page = (tmp_path / "with a space" / "build" / "report.html").read_text()
    assert "qwen2_0_5b_q_proj_decode_m1" in page
    assert "http" not in page

    graph = tmp_path / "with a space" / "corpus" / "vit_b16_classifier_encode_m8.json"
    code, out, _ = winnow("run", graph, "-m", tmp_path / "with a space" / "engine.yaml", "--seconds", "0.01")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["chosen", "runner-up"]
    assert all(line.endswith("passed") and " ms " in line for line in out.splitlines()[1:])


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path, winnow):
    (tmp_path / "mine.txt").write_text("x")
    code, out, err = winnow("demo", tmp_path)
    assert code == 2
    assert out == ""
    assert err == (
        f"winnow: {tmp_path}: holds something else already\n"
        "  cure: name a new directory; an engine that was changed is never written over\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_selection_catalog_and_archive_are_the_same_bytes_everywhere(small_engine: Path, tmp_path: Path):
    runs = []
    for i, (seed, jobs, locale) in enumerate((("0", "1", "C"), ("4242", "2", "C.UTF-8"))):
        root = tmp_path / f"place {i}" / ("deeper" * i)
        shutil.copytree(small_engine / "corpus", root / "corpus")
        (root / "engine.yaml").write_text(manifest_text(arches=[host_level(), "x86-64-generic"]))
        env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": f"UTC{i}"}
        for command in (["enumerate"], ["generate"], ["pack", "--arch", host_level(), "-j", jobs]):
            done = subprocess.run([*COMMAND, *command], cwd=root, env=env, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        runs.append(
            tree_digests(root / "catalog")
            | tree_digests(root / "build" / "archive")
            | {"selection": hashlib.sha256((root / "selection.yaml").read_bytes()).hexdigest()}
        )
    assert runs[0] == runs[1]
    assert any(name.endswith(".kpack") for name in runs[0])


def measurements(database: Path) -> dict[tuple[int, int, int], tuple[str, float]]:
    if not database.exists():
        return {}
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        try:
            rows = db.execute("SELECT batch, arm, round, samples, taken_at FROM measurement").fetchall()
        except sqlite3.OperationalError:
            return {}
    return {(batch, arm, round_): (samples, taken) for batch, arm, round_, samples, taken in rows}


def test_a_sweep_killed_half_way_goes_on_without_repeating_or_losing_a_measurement(small_engine: Path):
    database = small_engine / "build" / "sweep.db"
    sweep = [*COMMAND, "sweep", "--rounds", "6"]
    with subprocess.Popen(sweep, cwd=small_engine, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 60
        while len(measurements(database)) < 20:
            assert time.monotonic() < deadline
            assert running.poll() is None, "the sweep ended before it could be killed"
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
    before = measurements(database)
    assert before

    done = subprocess.run([*sweep, "--json"], cwd=small_engine, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rounds"] == 6
    after = measurements(database)
    assert {key: after.get(key) for key in before} == before
    assert len(after) > len(before)

    again = subprocess.run([*sweep, "--json"], cwd=small_engine, capture_output=True, text=True, check=False)
    assert again.returncode == 0
    assert measurements(database) == after


def test_an_interrupted_sweep_ends_with_130_and_keeps_what_it_has(small_engine: Path):
    database = small_engine / "build" / "sweep.db"
    with subprocess.Popen([*COMMAND, "sweep"], cwd=small_engine, stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 60
        while not measurements(database):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert err == "winnow: interrupted; what was done is kept, the same command resumes\n"
    assert measurements(database)
