"""A sweep that is broken off or run again loses nothing, and measures only what is new."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from planted import QUICK, PlantedDevice, engine, kernel
from planted_sweep import ENGINE, GRAPHS, measured

from winnow.sweep.database import reading
from winnow.sweep.ledger import read_ledger
from winnow.sweep.progress import Progress
from winnow.sweep.session import run_sweep


def test_a_second_run_measures_nothing_and_more_rounds_only_what_is_new(tmp_path):
    path = tmp_path / "s.db"
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path)
    before = measured(path)
    again = PlantedDevice()
    result = run_sweep(ENGINE, again, GRAPHS, QUICK, path)
    assert again.calls == []
    assert measured(path) == before
    assert result.ledger.adds_up
    more = run_sweep(ENGINE, PlantedDevice(seed=9), GRAPHS, QUICK, path, rounds=6)
    assert more.rounds == 6
    assert set(before) < set(measured(path))
    fewer = run_sweep(ENGINE, again, GRAPHS, QUICK, path, rounds=2)
    assert (fewer.rounds, again.calls) == (6, [])


@pytest.mark.parametrize("after", [0, 3, 20, 45, 80, 110])
def test_kill_nine_loses_and_repeats_nothing(tmp_path, after):
    """The process is killed in the middle of a launch; what was finished before is there, once."""
    path = tmp_path / "s.db"
    script = (
        "from test_sweep import *\n"
        f"run_sweep(ENGINE, PlantedDevice(die_after={after}), GRAPHS, QUICK, Path({str(path)!r}))\n"
    )
    here = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    assert subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode == -9
    before = measured(path)
    with reading(path) as db:
        verdicts = db.rows("SELECT * FROM correctness")
    device = PlantedDevice(seed=5, noise=0.1)
    result = run_sweep(ENGINE, device, GRAPHS, QUICK, path)
    assert result.ledger.adds_up
    with reading(path) as db:
        assert set(verdicts) <= set(db.rows("SELECT * FROM correctness"))
    if after > 40:
        assert {kind for kind, _, _ in device.calls} == {"time"}, "a finished correctness pass is not repeated"
        assert before
    assert set(before) <= set(measured(path))
    whole = tmp_path / "whole.db"
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, whole)
    assert [(g, a, r) for g, a, _, r in measured(path)] == [(g, a, r) for g, a, _, r in measured(whole)]


def test_interrupt_keeps_what_was_done(tmp_path):
    path = tmp_path / "s.db"

    def stop(progress: Progress) -> None:
        if progress.stage == "timing" and progress.note.startswith("round 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path, report=stop)
    assert measured(path)
    with reading(path) as db:
        ledger = read_ledger(db, 1)
        assert not ledger.adds_up
        assert {o.reason for o in ledger.by_state("missing")} == {"timed in 1 of 2 rounds"}
        assert db.rows("SELECT rounds, ended FROM plan") == [(1, None)]


def test_a_pair_that_was_not_reached_is_missing(tmp_path):
    path = tmp_path / "s.db"

    def stop(progress: Progress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path, report=stop)
    with reading(path) as db:
        ledger = read_ledger(db, 1)
    assert not ledger.adds_up
    assert sum(ledger.counts.values()) == 40
    assert ledger.counts["missing"] > 0
    assert {o.reason for o in ledger.by_state("missing")} == {"not checked yet", "timed in 0 of 2 rounds"}


@pytest.mark.parametrize(
    ("what", "sweep", "device"),
    [
        ("another device state", QUICK, PlantedDevice(state="hot")),
        ("another policy", QUICK.model_copy(update={"max_launches": 6}), PlantedDevice()),
    ],
)
def test_other_conditions_are_another_session(tmp_path, what, sweep, device):
    path = tmp_path / "s.db"
    first = run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path)
    second = run_sweep(ENGINE, device, GRAPHS, sweep, path)
    assert first.session != second.session, what
    assert len(device.calls) > 0
    with reading(path) as db:
        assert len(db.rows("SELECT DISTINCT session FROM batch")) == 2


def test_a_changed_object_is_measured_beside_all_others_again(tmp_path):
    path = tmp_path / "s.db"
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path)
    changed = engine(*(kernel(1, "better", 900, version=1) if k.name == "better" else k for k in ENGINE.kernels))
    device = PlantedDevice()
    run_sweep(changed, device, GRAPHS, QUICK, path)
    assert {name for kind, name, _ in device.calls if kind == "launch"} == {"better"}, "verdicts of other objects hold"
    assert {name for kind, name, _ in device.calls if kind == "time"} == {"good", "better", "slow", "wide", "timeless"}


def test_fewer_kernels_need_no_new_measurement(tmp_path):
    path = tmp_path / "s.db"
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path)
    device = PlantedDevice()
    result = run_sweep(engine(*ENGINE.kernels[:3]), device, GRAPHS[:2], QUICK, path)
    assert device.calls == []
    assert result.ledger.counts["served"] == 6


def test_an_unfinished_wider_sweep_does_not_touch_a_finished_one(tmp_path):
    path = tmp_path / "s.db"
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path)
    before = measured(path)

    def stop(progress: Progress) -> None:
        if progress.stage == "timing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(engine(*ENGINE.kernels, kernel(10, "new", 800)), PlantedDevice(), GRAPHS, QUICK, path, report=stop)
    assert len(measured(path)) > len(before)
    again = PlantedDevice()
    result = run_sweep(ENGINE, again, GRAPHS, QUICK, path)
    assert (result.rounds, again.calls) == (4, [])


def test_without_the_old_default_graphs_are_measured_anew(tmp_path):
    """The A/A arms repeat the default, so arms whose default is gone have no noise of their own."""
    path = tmp_path / "s.db"
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path)
    device = PlantedDevice()
    run_sweep(engine(*ENGINE.kernels[1:3]), device, GRAPHS, QUICK, path)
    assert {(kind, name) for kind, name, _ in device.calls} == {("time", "better"), ("time", "slow")}
