"""Evidence must be what the sweep measured of pairs that passed, from a sweep that ran to its end, of this catalog."""

from __future__ import annotations

import json
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest
from planted import QUICK, PlantedDevice, engine, graph, kernel

from winnow.errors import Incomplete
from winnow.reduce.result import reduce_evidence
from winnow.settings.matching import Comparison
from winnow.settings.reduction import Noise, Performance, Reduction
from winnow.sweep.database import reading
from winnow.sweep.evidence import load_evidence
from winnow.sweep.session import run_sweep

ENGINE = engine(
    kernel(0, "default", 1000, guess=3),
    kernel(1, "small", {"64": 500, "*": 2400}),
    kernel(2, "large", {"64": 2400, "*": 500}, step=4),
    kernel(3, "slow", 9000),
    kernel(4, "wrong", 1, "wrong on large"),
    kernel(5, "hanging", 1, "loop"),
)
GRAPHS = (graph(64), graph(128), graph(256), graph(30), graph(31))
REDUCTION = Reduction(
    cell=[], performance={name: Performance() for name in ("step", "guess", "order")}, noise=Noise(floor=0.02)
)
MATCH = {"n": Comparison.model_validate({"multiple_of": "step"})}


@pytest.mark.parametrize(("statistic", "settle"), [("median", median), ("minimum", min)])
def test_times_are_those_of_what_passed(tmp_path, statistic, settle):
    path = tmp_path / "s.db"
    sweep = QUICK.model_copy(update={"statistic": statistic})
    run_sweep(ENGINE, PlantedDevice(noise=0.05), GRAPHS, sweep, path)
    found = load_evidence(path)
    assert [g.name for g in found.graphs] == ["double_64", "double_128", "double_256", "double_30", "double_31"]
    assert [k.name for k in found.kernels] == ["default", "small", "large", "slow", "wrong", "hanging"]
    assert found.rounds == 4
    measured = ~np.isnan(found.times)
    full, early, none = [True] * 4, [True, True, False, False], [False] * 4
    assert measured[0].tolist() == [full, full, early, early, full, none]
    assert measured[1].tolist() == [full, early, full, early, none, none], "wrong on this graph: no time counts"
    assert measured[3, 2].tolist() == none, "30 is no multiple of 4"
    assert not measured[4].any(), "31 is another family's"
    with reading(path) as db:
        ((samples,),) = db.rows(
            "SELECT samples FROM measurement m JOIN arm a ON a.batch = m.batch AND a.position = m.arm"
            " JOIN batch b ON b.id = m.batch WHERE a.name = 'small' AND b.graph = ? AND round = 2",
            (found.graphs[0].id,),
        )
    assert found.times[0, 1, 2] == np.log(settle(json.loads(samples)))
    assert found.ranks[0].tolist() == [0, 4, 2, 3, 5, 1], "the guess first, then by name"
    assert found.ranks[4].tolist() == [-1] * 6
    assert not np.isnan(found.controls[:4]).any()
    assert found.controls.shape == (5, 3, 4)


def test_from_a_sweep_to_a_reduction(tmp_path):
    path = tmp_path / "s.db"
    run_sweep(ENGINE, PlantedDevice(noise=0.003), GRAPHS, QUICK, path)
    result = reduce_evidence(load_evidence(path), REDUCTION, MATCH)
    assert result.kept_names == {"default", "small", "large"}
    reasons = {dropped.kernel: (dropped.why, dropped.text) for dropped in result.dropped}
    assert reasons["hanging"] == ("unfit", "failed in correctness on double_64: timeout: no answer within 20 s")
    assert reasons["wrong"][0] == "unfit"
    assert reasons["wrong"][1].startswith("failed in correctness on double_128: y[0] is nan")
    assert reasons["slow"][0] == "redundant"
    assert {kept.kernel: kept.needed_by for kept in result.kept} == {
        "default": ("double_30",),
        "small": ("double_64",),
        "large": ("double_128", "double_256"),
    }
    assert result.unserved == ("double_31",)
    assert result.scores.chosen.geomean == pytest.approx(1, abs=0.02)
    assert result.scores.guessed.worst == pytest.approx(0.5, abs=0.02)


def test_only_the_last_sweep_of_one_engine_counts(tmp_path):
    path = tmp_path / "s.db"
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path, corpus="first")
    run_sweep(engine(*ENGINE.kernels[:2]), PlantedDevice(state="hot"), GRAPHS[:2], QUICK, path, corpus="second")
    last = load_evidence(path)
    assert (last.corpus, len(last.kernels), last.fingerprint["state"]) == ("second", 2, "hot")
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path, corpus="first")
    assert load_evidence(path).corpus == "first"


def catalog_of(*kernels, arch=("x86-64-v3",)):
    """As much of a catalog as evidence is compared with."""
    kdp = SimpleNamespace(arch_of=lambda kernel: list(arch))
    return SimpleNamespace(
        kernels=lambda: [(kdp, kernel) for kernel in kernels], completed_metadata=lambda kernel: dict(kernel.metadata)
    )


def told(action) -> str:
    with pytest.raises(Incomplete) as caught:
        action()
    return str(caught.value)


def test_what_is_missing_is_incomplete(tmp_path):
    path = tmp_path / "s.db"
    assert told(lambda: load_evidence(path)) == f"{path}: no measurements\n  cure: run `winnow sweep` first"

    def stop(progress):
        if progress.note.startswith("round 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path, corpus="layers", report=stop)
    assert told(lambda: load_evidence(path)) == (
        f'{path}: the sweep of corpus "layers" did not run to its end: 2 rounds are complete, '
        "0 of 30 pairs are missing\n"
        "  cure: run `winnow sweep` again: it resumes where it stopped"
    )
    run_sweep(ENGINE, PlantedDevice(), GRAPHS, QUICK, path, corpus="layers")
    assert told(lambda: load_evidence(path, engine="test:Other")) == (
        f"{path}: no measurements of test:Other\n  cure: run `winnow sweep` first"
    )
    assert load_evidence(path, catalog=catalog_of(*ENGINE.kernels)).corpus == "layers"
    changed = [ENGINE.kernels[0], kernel(1, "small", 1, step=2), *ENGINE.kernels[2:4], kernel(9, "new", 1)]
    assert told(lambda: load_evidence(path, catalog=catalog_of(*changed))) == (
        f"{path}: evidence and catalog differ in 4 kernels: hanging, new, small and 1 more\n"
        "  cure: run `winnow pack` and `winnow sweep`"
    )
    assert told(lambda: load_evidence(path, catalog=catalog_of(*ENGINE.kernels, arch=("x86-64-v4",)))).startswith(
        f"{path}: evidence and catalog differ in 6 kernels"
    )
