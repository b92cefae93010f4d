"""A CI system must see exactly what `winnow check` sees: no gate lost in translation, none passed that did not run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import pytest
from engine_files import foreign_engine

from winnow.errors import Place
from winnow.gates.verdict import STATES, Finding, incomplete, judged, passed, unusable
from winnow.report.verdicts import FORMS

GATES = ("header", "registry", "budget", "regeneration")
REFUSED = judged(
    "registry",
    "2 kernels",
    [
        Finding("a.b", "tile is 5%\nof 3, so: no", Place("sub/selection.yaml", 7, "packs[0]")),
        Finding("c", "bad \x07 <letter> & more"),
    ],
)
VERDICTS = [passed("header", "6 keys"), REFUSED, incomplete("archive", "no archive: run `winnow pack` first")]


def test_junit_counts_what_did_not_run_as_an_error():
    suite = ElementTree.fromstring(FORMS["junit"](VERDICTS))
    assert dict(suite.attrib) == {"name": "winnow check", "tests": "3", "failures": "1", "errors": "1"}
    header, registry, archive = suite
    assert [case.get("name") for case in suite] == ["header", "registry", "archive"]
    assert len(header) == 0
    assert registry[0].tag == "failure"
    assert registry[0].text == (
        "sub/selection.yaml:7: packs[0]: a.b: tile is 5%\nof 3, so: no\n"
        "c: bad \N{REPLACEMENT CHARACTER} <letter> & more"
    )
    assert (archive[0].tag, archive[0].get("message")) == ("error", "no archive: run `winnow pack` first")


def test_github_annotates_the_line_and_escapes_what_would_break_it():
    assert FORMS["github"](VERDICTS).splitlines() == [
        "header: passed: 6 keys",
        "registry: refused: 2 kernels",
        "::error file=sub/selection.yaml,line=7,title=winnow registry::a.b: tile is 5%25%0Aof 3, so: no",
        "::error title=winnow registry::c: bad \x07 <letter> & more",
        "archive: incomplete: no archive: run `winnow pack` first",
        "::error title=winnow archive::could not run: no archive: run `winnow pack` first",
    ]


def test_github_names_files_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    verdict = judged("header", "", [Finding("k", "m", Place(str(tmp_path / "e" / "s,1.yaml"), 3))])
    assert FORMS["github"]([verdict]).splitlines()[1] == "::error file=e/s%2C1.yaml,line=3,title=winnow header::k: m"


def test_every_form_shows_a_gate_that_met_something_unusable_as_one_that_did_not_run():
    verdict = unusable("serves", "no device")
    assert FORMS["text"]([verdict]) == "  serves  unusable    no device"
    assert json.loads(FORMS["json"]([verdict]))[0]["state"] == "unusable"
    suite = ElementTree.fromstring(FORMS["junit"]([verdict]))
    assert (suite.get("failures"), suite.get("errors"), suite[0][0].get("type")) == ("0", "1", "unusable")
    assert FORMS["github"]([verdict]).splitlines()[1] == "::error title=winnow serves::could not run: no device"


def test_the_page_marks_every_state_of_a_gate():
    """A state without a colour of its own reads like one that passed."""
    style = (files("winnow.report") / "templates" / "report.html.j2").read_text(encoding="utf-8")
    assert [state for state in STATES if f".{state}" not in style] == []


@pytest.fixture
def engine(tmp_path: Path, winnow) -> Path:
    (tmp_path / "engine").mkdir()
    path = foreign_engine(tmp_path / "engine")
    assert winnow("enumerate", "-m", path)[0] == 0
    assert winnow("generate", "-m", path)[0] == 0
    return path


def break_it(path: Path) -> None:
    selection = path.parent / "selection.yaml"
    selection.write_text(selection.read_text().replace("sdk_version: 1.0.0", "sdk_version: 1.0.1"))


@pytest.mark.parametrize("form", ["text", "json", "junit", "github"])
def test_every_form_ends_with_the_same_exit_code(engine: Path, winnow, form: str):
    assert winnow("check", "-m", engine, *GATES, "--format", form)[0] == 0
    break_it(engine)
    code, out, _ = winnow("check", "-m", engine, *GATES, "--format", form)
    assert code == 1
    assert "1.0.1" in out


def test_the_schema_of_the_manifest_is_printed(winnow):
    code, out, _ = winnow("check", "--schema")
    assert code == 0
    assert {"engine", "enumerate", "coverage", "match"} <= set(json.loads(out)["properties"])


def run_pytest(directory: Path, *arguments: str, xdist: str = "no:xdist") -> subprocess.CompletedProcess[str]:
    """pytest as a user runs it: in their own directory, with nothing of this repository's configuration."""
    support = Path(__file__).parents[1] / "support"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", xdist, "-q", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(support), os.environ.get("PYTHONPATH", "")])},
    )


def ini(tmp_path: Path, *lines: str) -> None:
    (tmp_path / "pytest.ini").write_text("\n".join(["[pytest]", "winnow_manifests = engine/engine.yaml", *lines, ""]))


def test_pytest_runs_the_gates_of_the_manifests_that_it_is_told(engine: Path, tmp_path: Path):
    ini(tmp_path, f"winnow_gates = {' '.join(GATES)}")
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].startswith("4 passed")


def test_workers_run_the_gates_as_well(engine: Path, tmp_path: Path):
    ini(tmp_path, "testpaths = mine", "winnow_gates = header budget")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "test_mine.py").write_text("def test_mine(): pass\n")
    done = run_pytest(tmp_path, "-n", "1", xdist="xdist")
    assert done.stdout.splitlines()[-1].startswith("3 passed"), done.stdout


def test_pytest_fails_where_check_fails_and_shows_what_check_shows(engine: Path, tmp_path: Path):
    ini(tmp_path)
    break_it(engine)
    done = run_pytest(tmp_path, "--winnow-gates", "header,registry")
    assert done.returncode == 1
    assert "FAILED engine/engine.yaml::header" in done.stdout
    assert "  header  refused     6 shared keys\n    engine: the selection says" in done.stdout
    assert "Traceback" not in done.stdout
    assert "pytest_plugin.py" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 failed, 1 passed")


def test_pytest_fails_where_check_cannot_run(engine: Path, tmp_path: Path):
    ini(tmp_path)
    done = run_pytest(tmp_path, "--winnow-gates", "archive")
    assert done.returncode == 1
    assert "  archive  incomplete  no archive at " in done.stdout
    engine.write_text(engine.read_text().replace("family: copy", "famliy: copy"))
    done = run_pytest(tmp_path, "--winnow-gates", "header")
    assert done.returncode == 1
    assert "winnow: " in done.stdout
    assert 'engine.yaml:3: famliy: unknown key "famliy"\n  cure: did you mean "family"?' in done.stdout


def test_pytest_refuses_a_gate_that_does_not_exist(engine: Path, tmp_path: Path):
    ini(tmp_path)
    done = run_pytest(tmp_path, "--winnow-gates", "heder")
    assert done.returncode == 4
    assert 'no gate is called "heder": did you mean "header"?' in done.stderr + done.stdout


def test_pytest_leaves_the_gates_out_where_a_person_names_other_tests(engine: Path, tmp_path: Path):
    ini(tmp_path, "testpaths = mine", f"winnow_gates = {' '.join(GATES)}")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "test_mine.py").write_text("def test_mine(): pass\n")
    assert run_pytest(tmp_path).stdout.splitlines()[-1].startswith("5 passed")
    assert run_pytest(tmp_path, "mine").stdout.splitlines()[-1].startswith("1 passed")
    assert run_pytest(tmp_path, "engine/engine.yaml").stdout.splitlines()[-1].startswith("4 passed")
