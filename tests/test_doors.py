"""A package that Winnow does not know brings a node type, a family, a compiler, a device, an arch and a gate."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_package import package

from winnow import plugins
from winnow.errors import InputError, Place

STANDIN = Path(__file__).parent / "support" / "standin"


def graph(n: int, factor: float = 1.5) -> dict[str, Any]:
    tensors = [
        {"uid": uid, "name": name, "dims": [n], "strides": [1], "data_type": "float", "virtual": False}
        for uid, name in ((1, "x"), (2, "y"))
    ]
    node = {
        "name": "scale",
        "type": "ScaleAttributes",
        "compute_data_type": "float",
        "inputs": {"x_tensor_uid": 1},
        "outputs": {"y_tensor_uid": 2},
        "attributes": {"factor": factor},
    }
    types = dict.fromkeys(("compute_data_type", "io_data_type", "intermediate_data_type"), "float")
    return {"name": f"scale_{n}", **types, "tensors": tensors, "nodes": [node]}


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    root = tmp_path / "engine"
    shutil.copytree(STANDIN / "engine", root)
    (root / "corpus").mkdir()
    for n in (64, 1024, 65536):
        (root / "corpus" / f"scale_{n}.json").write_text(json.dumps(graph(n)))
    return root


def run(directory: Path, *arguments: str, path: Path = STANDIN) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "winnow", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])},
    )


def test_the_whole_loop_runs_on_what_a_package_brings(engine: Path):
    for step in ("plan", "enumerate", "coverage", "generate", "pack", "sweep", "reduce"):
        done = run(engine, step)
        assert done.returncode == 0, f"{step}: {done.stdout}{done.stderr}"
    done = run(engine, "run", "corpus/scale_1024.json")
    assert done.returncode == 0, done.stderr
    assert "standin:Scale on toy1, 2 of 2 kernels serve it" in done.stdout
    done = run(engine, "check", "--json")
    states = {verdict["gate"]: verdict["state"] for verdict in json.loads(done.stdout)}
    assert states == dict.fromkeys(states, "passed"), done.stdout
    assert states["toy-tiles"] == states["serves"] == states["reduction"] == states["launch-surface"] == "passed"
    assert run(engine, "inspect", "build/archive/toy1").returncode == 0
    assert run(engine, "diff", "catalog", "build/archive").returncode == 0


def test_the_packages_gate_refuses_what_it_should(engine: Path):
    for step in ("enumerate", "generate", "pack"):
        assert run(engine, step).returncode == 0
    planted = engine / "planted"
    shutil.copytree(STANDIN, planted)
    gate = planted / "standin" / "gates.py"
    gate.write_text(gate.read_text().replace('kernel.completed["tile"]', "7"))
    done = run(engine, "check", "toy-tiles", path=planted)
    assert done.returncode == 1
    assert "its object has the tile 64" in done.stdout


def test_without_the_package_each_thing_is_missed_by_name(engine: Path, tmp_path: Path):
    done = run(engine, "plan", path=tmp_path)
    assert done.returncode == 2
    assert (
        'engine.yaml:2: kernel_source_kind: no installed compiler takes kernel sources of kind "toylang"' in done.stderr
    )
    shutil.copytree(engine / "corpus", tmp_path / "corpus")
    done = run(tmp_path, "init", "gemm", "--from", "gemm_cpu", path=tmp_path)
    done = run(tmp_path / "gemm", "run", "../corpus/scale_64.json", "--archive", ".", path=tmp_path)
    assert done.returncode == 2
    assert 'unknown node type "ScaleAttributes"' in done.stderr


def test_plugins_are_listed_with_their_packages():
    done = run(STANDIN, "plugins", "--json")
    listed = {
        (one["group"], one["name"]): (one["package"], one["version"], one["state"]) for one in json.loads(done.stdout)
    }
    for group, name in (
        ("winnow.nodes", "scale"),
        ("winnow.families", "scale"),
        ("winnow.compilers", "toylang"),
        ("winnow.devices", "toy"),
        ("winnow.targets", "toy"),
        ("winnow.gates", "toy-tiles"),
    ):
        assert listed[group, name] == ("standin", "1.0", "ok")
    assert {group for group, _ in listed} == set(plugins.GROUPS)
    text = run(STANDIN, "plugins").stdout
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import nothing_of_this_name", "odd:THING raised ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("raise SystemExit('no GPU here')", "odd:THING raised SystemExit: no GPU here"),
        ("1 / 0", "odd:THING raised ZeroDivisionError: division by zero"),
        ("OTHER = 1", "odd:THING raised AttributeError: module 'odd' has no attribute 'THING'"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_costs_itself(engine: Path, tmp_path: Path, text: str, problem: str):
    groups = ("families", "compilers", "devices", "targets", "nodes", "gates", "executors", "importers")
    entries = "".join(f"[winnow.{group}]\nodd = odd:THING\n" for group in groups)
    package(tmp_path / "odd", "odd", entries, odd=text)
    shutil.copytree(STANDIN / "standin", tmp_path / "odd" / "standin")
    shutil.copytree(STANDIN / "standin-1.0.dist-info", tmp_path / "odd" / "standin-1.0.dist-info")
    both = tmp_path / "odd"
    done = run(engine, "plugins", path=both)
    assert done.returncode == 0
    assert done.stdout.count("broken") == len(groups)
    assert f"  winnow.families odd: {problem}" in done.stdout
    for step in ("enumerate", "generate", "pack"):
        done = run(engine, step, path=both)
        assert done.returncode == 0, done.stderr
    done = run(engine, "check", "header", "odd", "toy-tiles", path=both)
    assert done.returncode == 2
    assert "header     passed" in done.stdout
    assert f'odd        unusable    the gate "odd" of the package odd cannot be used: {problem}' in done.stdout
    manifest = engine / "engine.yaml"
    manifest.write_text(manifest.read_text().replace("family: scale", "family: odd"))
    done = run(engine, "coverage", path=both)
    assert done.returncode == 2
    assert f'engine.yaml:3: family: the family "odd" of the package odd cannot be used: {problem}' in done.stderr
    assert "Traceback" not in done.stderr


def test_the_list_of_plugins_is_80_columns_wide_whatever_packages_are_called(tmp_path: Path):
    name = "a_package_of_a_very_long_name_for_accelerators_that_nobody_has_seen"
    package(tmp_path, name, f"[winnow.executors]\n{name} = long_one:X\n", long_one="X = 1")
    lines = run(tmp_path, "plugins", path=tmp_path).stdout.splitlines()
    table = [line for line in lines if not line.startswith(f"  winnow.executors {name}:")]
    assert max(map(len, table)) <= 80


def test_two_packages_that_offer_one_name_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package(tmp_path / "a", "first", "[winnow.families]\ntwice = one:X\n", one="X = 1")
    package(tmp_path / "b", "second", "[winnow.families]\ntwice = two:X\n", two="X = 2")
    monkeypatch.syspath_prepend(tmp_path / "a")
    monkeypatch.syspath_prepend(tmp_path / "b")
    with pytest.raises(InputError) as error:
        plugins.load("winnow.families", "twice")
    assert str(error.value) == ('the family "twice" is offered by second and first\n  cure: uninstall one of them')


def test_an_object_of_another_type_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package(tmp_path, "third", "[winnow.executors]\nodd3 = three:X\n", three="X = 1")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError) as error:
        plugins.load("winnow.executors", "odd3", dict, Place("f", 1))
    assert str(error.value) == (
        'f:1: the executor "odd3" of the package third cannot be used: three:X is of type int\n'
        "  cure: mend the package, install what it needs, or uninstall it"
    )


def test_a_table_that_is_none_and_a_row_that_is_there_already_are_said_where_a_name_is_missed(tmp_path: Path):
    package(
        tmp_path,
        "tables",
        "[winnow.targets]\nbad = bad_table:X\nagain = again:X\n",
        bad_table="X = 'gfx'",
        again="from winnow.targets.builtin import TABLE as X",
    )
    code = "from winnow.targets.arches import ARCHES, arch_facts\nprint(len(ARCHES))\narch_facts('gfx9999')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    said = done.stderr
    assert (
        'the table of targets "bad" of the package tables cannot be used: it is of type str, not a TargetTable' in said
    )
    assert 'the table of targets "again" of the package tables cannot be used: "gfx90a" is known already' in said


def test_a_broken_plugin_costs_itself_and_is_listed(engine: Path, tmp_path: Path):
    """Whatever a group's plugin offers: commands that do not need it go on, and the list names what is wrong."""
    package(
        tmp_path,
        "broken",
        """
[winnow.nodes]
iterates = broken:RAISES
hijack = broken:HIJACK
once = broken:ONCE
[winnow.families]
number = broken:NUMBER
[winnow.compilers]
number = broken:NUMBER
[winnow.devices]
number = broken:NUMBER
[winnow.targets]
numbers = broken:NUMBERS
[winnow.gates]
number = broken:NUMBER
[winnow.executors]
number = broken:NUMBER
[winnow.importers]
number = broken:NUMBER
""",
        broken="""
from winnow.graphs.kinds import NodeKind
from winnow.targets.arches import TargetTable

class Raises:
    def __iter__(self):
        raise KeyError("rows")

RAISES, NUMBER, NUMBERS = Raises(), 42, TargetTable((1, 2))
HIJACK = NodeKind("Mine", ("a",), ("b",), aliases=("MatmulAttributes",))
ONCE = (kind for kind in ())
""",
    )
    path = Path(os.pathsep.join([str(STANDIN), str(tmp_path)]))
    states = {
        (one["group"], one["name"]): one["state"]
        for one in json.loads(run(engine, "plugins", "--json", path=path).stdout)
    }
    said = {
        ("winnow.nodes", "iterates"): "KeyError: 'rows'",
        ("winnow.nodes", "hijack"): '"MatmulAttributes" is known already',
        ("winnow.nodes", "once"): "it offers an iterator, which can be read only once; a tuple would do",
        ("winnow.families", "number"): 'family "number": int has no method problem',
        ("winnow.compilers", "number"): "it is of type int, not Compiler",
        ("winnow.devices", "number"): "it is of type int, not a function that opens a device",
        ("winnow.targets", "numbers"): "its arches are (1, 2), not a tuple of ArchFacts",
        ("winnow.gates", "number"): "it offers a value of type int, not a Gate",
        ("winnow.executors", "number"): "it is of type int, not Executor",
        ("winnow.importers", "number"): "it is of type int, not Importer",
    }
    assert {key: state for key, state in states.items() if state != "ok"} == said
    for step in ("plan", "enumerate", "coverage", "generate", "pack"):
        done = run(engine, step, path=path)
        assert done.returncode == 0, f"{step}: {done.stdout}{done.stderr}"
    (engine / "space.json").write_text('{"params": {"a": [1, 2]}, "constraints": []}')
    assert run(engine, "space", "space.json", path=path).returncode == 0
    done = run(engine, "run", "corpus/scale_64.json", "--device", "number", path=path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        'winnow: the device runtime "number" of the package broken cannot be used: broken:NUMBER is of type int',
    )
    done = run(engine, "check", "serves", "--device", "number", path=path)
    assert done.returncode == 2
    assert 'the device runtime "number" of the package broken cannot be used' in done.stdout


def test_an_executor_that_breaks_its_contract_is_named(engine: Path, tmp_path: Path):
    package(
        tmp_path,
        "runners",
        "[winnow.executors]\nidle = runners:IDLE\nodd = runners:ODD\nraising = runners:RAISING\n",
        runners="""
from winnow.pack.executor import Executor
from winnow.workers.pool import Timing

def idle(jobs, *, workers, done, timeout_s):
    return Timing()

def odd(jobs, *, workers, done, timeout_s):
    done(0, 7)

def raising(jobs, *, workers, done, timeout_s):
    raise KeyError("no cluster")

IDLE, ODD, RAISING = Executor("idle", idle), Executor("odd", odd), Executor("raising", raising)
""",
    )
    path = Path(os.pathsep.join([str(STANDIN), str(tmp_path)]))
    for step in ("enumerate", "generate"):
        assert run(engine, step).returncode == 0
    for name, said in (
        ("idle", "gave 0 results for 2 jobs"),
        ("odd", "gave a value of type int for a job, not str"),
        ("raising", "raised KeyError: 'no cluster'"),
    ):
        done = run(engine, "pack", "--executor", name, path=path)
        assert done.returncode == 2
        assert done.stderr == f'winnow: the executor "{name}" {said}\n  cure: correct the package that brings it\n'
