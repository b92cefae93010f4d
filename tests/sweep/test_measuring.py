"""What one sweep measures, in which order and how long, what it says of each pair, and what it refuses."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import replace

import pytest
from planted import QUICK, PlantedDevice, engine, graph, kernel
from planted_sweep import ENGINE, GRAPHS, measured

from winnow.errors import Incomplete, InputError, Refused, WinnowError
from winnow.sweep.database import reading, writing
from winnow.sweep.plan import Arm, Launch, make_plan, shuffled
from winnow.sweep.policy import policy_of
from winnow.sweep.progress import Progress
from winnow.sweep.session import run_sweep
from winnow.sweep.store import Batch, open_session, record_samples


def test_every_pair_has_one_outcome_and_says_why(tmp_path):
    result = run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, tmp_path / "s.db")
    ledger = result.ledger
    assert ledger.adds_up
    assert ledger.counts == {"served": 11, "declined": 11, "failed": 18, "unchecked": 0, "missing": 0}
    told = {(o.graph, o.kernel): (o.state, o.stage, o.reason) for o in ledger.outcomes}
    assert told["double_31", "good"] == ("declined", "", "n=31 is odd")
    assert told["double_100", "wide"] == ("declined", "", "n=100 is not a multiple of step=64")
    assert told["double_64", "good"] == ("served", "", "")
    assert told["double_64", "slow"] == ("served", "", "pruned after round 2 at 5.6× the best")
    assert told["double_64", "endless"] == ("failed", "correctness", "timeout: no answer within 20 s")
    assert told["double_100", "endless"] == ("failed", "correctness", "not tried: it ran out of time on double_64")
    assert told["double_64", "crashing"] == ("failed", "correctness", "crash: SIGSEGV")
    assert told["double_64", "unloadable"] == ("failed", "load", "load: no symbol k_unloadable")
    assert told["double_64", "spoiling"] == ("failed", "correctness", "changed its input x")
    assert told["double_64", "timeless"] == ("failed", "timing", "invalid times: sample 0 is 0 ns")
    state, stage, reason = told["double_64", "wrong"]
    assert (state, stage) == ("failed", "correctness")
    assert reason.startswith("y[32] is ")


def test_only_what_passed_is_ever_timed(tmp_path):
    device = PlantedDevice()
    run_sweep(ENGINE, device, GRAPHS, QUICK, tmp_path / "s.db")
    timed = {name for kind, name, _ in device.calls if kind == "time"}
    assert timed == {"good", "better", "slow", "wide", "timeless"}
    assert {arm for _, arm, _, _ in measured(tmp_path / "s.db")} == {"good", "better", "slow", "wide", "a/a 1", "a/a 2"}
    endless = [call for call in device.calls if call[1] == "endless"]
    assert len(endless) == 1, "a kernel that hangs costs the time limit once, not once a graph"


def test_a_damaged_input_does_not_fail_the_kernels_after_it(tmp_path):
    result = run_sweep(
        engine(kernel(0, "spoiling", 1, "spoil", guess=1), kernel(1, "good", 10)),
        PlantedDevice(),
        [graph(64)],
        QUICK,
        tmp_path / "s.db",
    )
    assert [o.state for o in result.ledger.outcomes] == ["failed", "served"]


def test_rounds_interleave_and_prune_after_two(tmp_path):
    device = PlantedDevice()
    run_sweep(ENGINE, device, GRAPHS, QUICK, tmp_path / "s.db")
    rounds = Counter((graph_, arm) for graph_, arm, _, _ in measured(tmp_path / "s.db"))
    assert {count for (_, arm), count in rounds.items() if arm == "slow"} == {2}
    assert {count for (_, arm), count in rounds.items() if arm != "slow"} == {4}
    sizes = [elements for kind, _, elements in device.calls if kind == "time"]
    visits = [size for i, size in enumerate(sizes) if i == 0 or size != sizes[i - 1]]
    assert visits == [64, 100, 128] * 4, "a graph's arms stand side by side, once in each round"


def test_a_slow_launch_is_measured_once_a_round(tmp_path):
    path = tmp_path / "s.db"
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path)
    assert {len(json.loads(samples)) for _, arm, samples, _ in measured(path) if arm == "slow"} == {1}
    assert {len(json.loads(samples)) for _, arm, samples, _ in measured(path) if arm == "good"} == {3}


def test_one_interruption_does_not_cost_a_good_kernel(tmp_path):
    """A variant that looks slow in a single round stays in."""

    class Interrupted(PlantedDevice):
        def time(self, module, arguments, grid, **limits):
            samples = super().time(module, arguments, grid, **limits)
            early = sum(call[:2] == ("time", "better") for call in self.calls) <= 2
            return tuple(s * 50 for s in samples) if module.plan["name"] == "better" and early else samples

    result = run_sweep(ENGINE, Interrupted(), [graph(64)], QUICK, tmp_path / "s.db")
    (outcome,) = [o for o in result.ledger.outcomes if o.kernel == "better"]
    assert (outcome.state, outcome.reason) == ("served", "")


def test_order_is_shuffled_differently_each_round_and_independent_of_input_order():
    arms = [Arm(f"k{i}", "variant", Launch(f"{i:064d}", "k@1x1x1")) for i in range(8)]
    orders = {tuple(a.name for a in shuffled(arms, 0, "g", r)) for r in range(6)}
    assert len(orders) == 6
    assert shuffled(arms, 0, "g", 1) == shuffled(arms[::-1], 0, "g", 1)
    assert [a.name for a in shuffled(arms, 0, "g", 0)] == ["k0", "k4", "k6", "k7", "k3", "k2", "k5", "k1"]


def test_equal_objects_are_measured_once(tmp_path):
    first = kernel(0, "one", 100)
    twin = replace(first, name="two", id="id-two", order=1)
    result = run_sweep(engine(first, twin), PlantedDevice(), [graph(64)], QUICK, tmp_path / "s.db")
    assert [o.state for o in result.ledger.outcomes] == ["served", "served"]
    assert {arm for _, arm, _, _ in measured(tmp_path / "s.db")} == {"one", "a/a 1", "a/a 2"}


def test_a_fault_while_timing_takes_the_kernel_out(tmp_path):
    device = PlantedDevice()
    planted = engine(kernel(0, "good", 100, guess=1), kernel(1, "late", 90, "loop when time"))
    result = run_sweep(planted, device, [graph(64)], QUICK, tmp_path / "s.db")
    assert [(o.state, o.stage, o.reason) for o in result.ledger.outcomes] == [
        ("served", "", ""),
        ("failed", "timing", "timeout: no answer within 20 s"),
    ]
    assert device.calls.count(("time", "late", 64)) == 1


class Ticking:
    """A clock that a test moves; each reading takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_the_budget_ends_with_a_whole_round(tmp_path):
    probe = run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, tmp_path / "probe.db", rounds=20, clock=Ticking())
    result = run_sweep(
        ENGINE, PlantedDevice(), GRAPHS, QUICK, tmp_path / "s.db", rounds=20, budget=probe.seconds / 2, clock=Ticking()
    )
    assert result.ended == "budget"
    assert 2 <= result.rounds < 20
    assert result.seconds <= probe.seconds / 2
    assert {r for *_, r in measured(tmp_path / "s.db")} == set(range(result.rounds))


def test_too_small_a_budget_is_incomplete_and_resumes(tmp_path):
    path = tmp_path / "s.db"
    with pytest.raises(Incomplete) as caught:
        run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path, budget=5, clock=Ticking())
    assert str(caught.value) == (
        f"{path}: the budget of 5 s ran out in the correctness pass; evidence needs 2 rounds\n"
        "  cure: run the same command again: it resumes where this one stopped"
    )
    assert run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path).rounds == 4


def test_progress_reaches_its_total(tmp_path):
    seen: list[Progress] = []
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, tmp_path / "s.db", report=seen.append)
    for stage in ("correctness", "timing"):
        steps = [p for p in seen if p.stage == stage]
        assert (steps[-1].done, steps[-1].seconds_left) == (steps[-1].total, 0.0)
        assert [p.done for p in steps] == sorted(p.done for p in steps)


@pytest.mark.parametrize("samples", [[], [0], [5, -1], [float("nan")], [float("inf")], [True], ["7"]])
def test_impossible_times_cannot_enter(tmp_path, samples):
    path = tmp_path / "s.db"
    with writing(path) as db:
        session = open_session(db, make_plan(ENGINE, GRAPHS, "c"), {"device": "x"}, policy_of(QUICK))
        arm = Arm("k", "variant", Launch("0" * 64, "k@1x1x1"))
        number = db.write("INSERT INTO batch (session, graph) VALUES (?, ?)", (session, "g"))
        db.write("INSERT INTO arm VALUES (?, 0, 'k', 'variant', ?, ?)", (number, arm.launch.sha256, arm.launch.entry))
        with pytest.raises(ValueError, match="sample"):
            record_samples(db, Batch(number, "g", (arm,)), 0, 0, samples)
    assert measured(path) == []


def told(error: type[WinnowError], action) -> str:
    with pytest.raises(error) as caught:
        action()
    return str(caught.value)


def test_user_errors(tmp_path):
    def sweep(**changes):
        arguments = {"engine": ENGINE, "device": PlantedDevice(), "graphs": GRAPHS, "sweep": QUICK} | changes
        path = arguments.pop("path", tmp_path / "s.db")
        rounds = arguments.pop("rounds", None)
        return lambda: run_sweep(*arguments.values(), path, corpus="layers", rounds=rounds)

    assert told(InputError, sweep(graphs=[])) == (
        'corpus "layers" has no graphs\n  cure: name a directory of hipDNN graph files'
    )
    assert told(InputError, sweep(graphs=[graph(64), graph(64, "twin")])) == (
        'graphs "double_64" and "twin" pose the same problem (8af2a6ec2a6b)\n  cure: keep one of the two'
    ).replace("8af2a6ec2a6b", make_plan(ENGINE, [graph(64)], "c").graphs[0].id)
    assert told(InputError, sweep(device=PlantedDevice(arch="x86-64-v4"))) == (
        "the engine is packed for x86-64-v3, but the device is x86-64-v4\n  cure: load the shard of x86-64-v4"
    )
    assert told(InputError, sweep(rounds=1)) == (
        "1 rounds are too few\n  cure: ask for 2 or more: one to choose, one to score"
    )
    assert told(Refused, sweep(graphs=[graph(31)])) == (
        "none of 10 kernels of test:Planted for x86-64-v3 serves any of 1 graph: double_31: n=31 is odd\n"
        "  cure: `winnow coverage` shows what each graph asks for"
    )
    text = tmp_path / "text.db"
    text.write_text("hello, this is no database, just a text that is long enough to be looked at" * 20)
    assert told(InputError, sweep(path=text)) == (
        f"{text}: the sweep database failed: file is not a database\n  cure: move it away and run `winnow sweep`"
    )
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    assert told(InputError, sweep(path=other)) == (
        f"{other}: not a sweep database of this version of Winnow (it has version 0, expected 1)\n"
        "  cure: move the file away; `winnow sweep` starts a new one"
    )
    assert told(InputError, sweep(path=tmp_path / "text.db" / "s.db")) == (
        f"{text}/s.db: cannot be written: File exists\n  cure: remove what is there, or name another place"
    )
    busy = tmp_path / "busy.db"
    with writing(busy):
        assert told(InputError, sweep(path=busy)) == (
            f"{busy}: another sweep is writing to this database\n"
            "  cure: wait for it or stop it: two sweeps at once would disturb each other's timings"
        )


def test_no_database_is_missing_evidence(tmp_path):
    def look():
        with reading(tmp_path / "none.db"):
            pass

    assert told(Incomplete, look) == f"{tmp_path}/none.db: no measurements\n  cure: run `winnow sweep` first"


def test_nothing_is_slow_beside_a_kernel_that_is_wrong_elsewhere(tmp_path):
    """It passes on the small graph, in no time; the others must not be pruned for that."""
    planted = engine(kernel(0, "good", 1000, guess=1), kernel(1, "wrong", 1, "wrong on large"))
    result = run_sweep(planted, PlantedDevice(), [graph(64), graph(128)], QUICK, tmp_path / "s.db")
    assert [(o.kernel, o.state, o.reason) for o in result.ledger.outcomes[:3]] == [
        ("good", "served", ""),
        ("wrong", "served", ""),
        ("good", "served", ""),
    ]
    good = [json.loads(samples) for _, arm, samples, _ in measured(tmp_path / "s.db") if arm == "good"]
    assert [len(samples) for samples in good] == [3] * 8
