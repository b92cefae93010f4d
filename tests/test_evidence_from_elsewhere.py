"""Evidence that others measured, by an importer of a package: the same decisions as from the sweep that it is of."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from fake_package import package

from winnow.sweep.evidence import load_evidence

_ENTRIES = """
[winnow.importers]
pickled = elsewhere:PICKLED
odd = elsewhere:ODD

[winnow.executors]
counting = elsewhere:COUNTING
"""

_MODULE = """
import pickle
from pathlib import Path

from winnow.importers.importer import Importer
from winnow.pack.executor import LOCAL, Executor

PICKLED = Importer("pickled", "evidence", (".measured",), lambda path: pickle.loads(path.read_bytes()))
ODD = Importer("odd", "evidence", (".odd",), lambda path: 7)

def run(jobs, *, workers, done, timeout_s):
    Path("ran").write_text(str(len(jobs)))
    return LOCAL.run(jobs, workers=workers, done=done, timeout_s=timeout_s)

COUNTING = Executor("counting", run)
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "packages", "elsewhere", _ENTRIES, elsewhere=_MODULE)
    monkeypatch.syspath_prepend(tmp_path / "packages")


@pytest.mark.usefixtures("elsewhere")
def test_evidence_of_a_packages_importer_decides_as_the_sweep_does(small_engine: Path, winnow, tmp_path: Path):
    manifest = small_engine / "engine.yaml"
    assert winnow("sweep", "-m", manifest, "--rounds", "2")[0] == 0
    decided = json.loads(winnow("reduce", "-m", manifest, "--json")[1])
    database = small_engine / "build" / "sweep.db"
    file = tmp_path / "lab.measured"
    file.write_bytes(pickle.dumps(load_evidence(database)))
    copy = tmp_path / "lab.db"
    database.rename(copy)
    for given in (["--evidence", copy], ["--evidence", file], ["--evidence", file, "--format", "pickled"]):
        code, out, err = winnow("reduce", "-m", manifest, "--json", *given)
        assert code == 0, err
        assert json.loads(out) == decided

    code, _, err = winnow("reduce", "-m", manifest, "--evidence", tmp_path / "lab.unknown")
    assert code == 2
    assert "no importer reads evidence from a file of this name\n  cure: name one with --format;" in err
    code, _, err = winnow("reduce", "-m", manifest, "--evidence", file, "--format", "odd")
    assert (code, err.splitlines()[1]) == (2, "  cure: correct the package that brings the importer")
    assert 'the importer "odd" gave a value of type int, not Evidence' in err
    code, _, err = winnow("reduce", "-m", manifest, "--evidence", file, "--format", "json")
    assert (code, err.strip()) == (2, 'winnow: the importer "json" reads spaces, not evidence')
    code, _, err = winnow("reduce", "-m", manifest, "--format", "odd")
    assert (code, err.strip()) == (2, "winnow: --format goes with --evidence only")

    first, *rest = load_evidence(copy).kernels
    other = replace(first, metadata={**first.metadata, "block_m": 77})
    file.write_bytes(pickle.dumps(replace(load_evidence(copy), kernels=(other, *rest))))
    code, _, err = winnow("reduce", "-m", manifest, "--evidence", file)
    assert code == 3
    assert f"{file}: evidence and catalog differ in 1 kernel: {other.name}" in err


@pytest.mark.usefixtures("elsewhere")
def test_compile_jobs_run_where_a_packages_executor_says(
    small_engine: Path, winnow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    code, _, err = winnow(
        "pack", "-m", small_engine / "engine.yaml", "-o", tmp_path / "other", "--executor", "counting"
    )
    assert code == 0, err
    assert (tmp_path / "ran").exists()
    code, _, err = winnow("pack", "-m", small_engine / "engine.yaml", "--executor", "countin")
    assert code == 2
    assert 'no executor "countin" is installed\n  cure: did you mean "counting"?' in err
