"""The Python API: what a notebook needs, lazily, with the results that commands print."""

from __future__ import annotations

import doctest
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import winnow as package

ROOT = Path(__file__).parents[1]


def test_the_page_of_the_api_is_true(small_engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = tmp_path / "home"
    shutil.copytree(small_engine, home / "my-engine")
    monkeypatch.chdir(home)
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/api.md", "docs/api.md", 0)
    said: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert results.attempted > 20
    assert results.failed == 0, "".join(said)


def test_results_are_what_commands_print(small_engine: Path, winnow):
    project = package.open(small_engine)
    for command, result in (("plan", project.plan()), ("coverage", project.coverage())):
        code, out, _ = winnow(command, "-m", project.manifest_file, "--json")
        assert code == 0
        assert json.loads(out) == json.loads(json.dumps(result.as_dict()))
    code, out, _ = winnow("check", "-m", project.manifest_file, "header", "tuples", "--json")
    assert json.loads(out) == json.loads(json.dumps(project.check("header", "tuples").as_list()))


def test_a_manifest_file_opens_its_project(small_engine: Path):
    assert package.open(small_engine / "engine.yaml") == package.open(str(small_engine))


def test_init_makes_a_project(tmp_path: Path):
    project = package.init(tmp_path / "new", "attention_cpu")
    assert project.manifest_file.is_file()
    with pytest.raises(package.InputError, match="no built-in engine"):
        package.init(tmp_path / "other", "attention_cpuu")


def test_a_refusal_by_the_budget_is_raised_and_nothing_is_written(small_engine: Path):
    manifest = small_engine / "engine.yaml"
    manifest.write_text(manifest.read_text().replace("budget: {kernels: 200", "budget: {kernels: 2"))
    before = (small_engine / "selection.yaml").read_bytes()
    assert package.open(small_engine).plan().refusal is not None
    with pytest.raises(package.Refused, match="the budget is 2"):
        package.open(small_engine).enumerate()
    assert (small_engine / "selection.yaml").read_bytes() == before


@pytest.mark.parametrize("name", package.__all__)
def test_every_name_is_there(name: str):
    assert getattr(package, name) is not None
    assert name in dir(package)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'winnow' has no attribute 'sweeep'"):
        _ = package.sweeep


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running this code."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(answer.stdout))


def test_importing_the_package_imports_nothing_else():
    ours = {name for name in loaded_by("import winnow") if name.startswith("winnow")}
    assert ours == {"winnow"}
    assert not loaded_by("import winnow") & {"numpy", "pydantic", "ruamel", "typer", "scipy"}


def test_a_project_stays_the_same_directory(
    small_engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_engine.parent)
    project = package.open(small_engine.name)
    monkeypatch.chdir(tmp_path)
    assert project.coverage().as_dict()


def test_one_text_is_not_taken_for_several(small_engine: Path) -> None:
    with pytest.raises(package.InputError) as error:
        package.open(small_engine).coverage(arches="x86-64-v2")
    assert str(error.value) == (
        "arches are several, one text is none of them\n  cure: give a list: arches=['x86-64-v2']"
    )


def test_an_engine_that_was_closed_runs_nothing(small_engine: Path) -> None:
    with package.load(small_engine / "build" / "archive") as engine:
        graph = package.read_graph(next((small_engine / "corpus").glob("*.json")))
        assert engine.run(graph).correctness.state == "passed"
    with pytest.raises(package.InputError, match="this engine is closed"):
        engine.run(graph)


def test_what_a_command_would_refuse_the_api_refuses(small_engine: Path) -> None:
    project = package.open(small_engine)
    before = (small_engine / "selection.yaml").read_bytes()
    with pytest.raises(package.InputError) as error:
        project.enumerate(space="zork")
    assert str(error.value) == "no space 'zork'\n  cure: known: slice, production, full"
    assert (small_engine / "selection.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: p.pack(jobs=0), "jobs is 0, not a whole number from 1 up"),
        (lambda p: p.pack(jobs=1.5), "jobs is 1.5, not a whole number from 1 up"),
        (lambda p: p.pack(jobs=True), "jobs is True, not a whole number from 1 up"),
        (lambda p: p.sweep(rounds="2"), "rounds is '2', not a whole number from 2 up"),
        (lambda p: p.sweep(rounds=1), "rounds is 1, not a whole number from 2 up"),
        (lambda p: p.sweep(budget=float("nan")), "budget is nan, not a number from 1 up"),
        (lambda p: p.sweep(budget=float("inf")), "budget is inf, not a number from 1 up"),
        (lambda p: p.reduce(budget="2"), "budget is '2', not a whole number from 1 up"),
        (lambda p: p.plan(approve=5), "approve is 5, not a reason in words"),
        (
            lambda p: p.generate(selection="a\0b"),
            "'a\\x00b' is not a path: no file's name holds a NUL character",
        ),
        (lambda p: package.open("a\0b"), "'a\\x00b' is not a path: no file's name holds a NUL character"),
        (
            lambda p: p.run(next((p.root / "corpus").glob("*.json")), seconds=-1),
            "seconds is -1, not a number from 0 up",
        ),
        (
            lambda p: p.run(next((p.root / "corpus").glob("*.json")), seconds=float("nan")),
            "seconds is nan, not a number from 0 up",
        ),
    ],
)
def test_a_value_that_a_command_would_refuse_is_refused_in_words(small_engine: Path, call, said: str) -> None:
    with pytest.raises(package.InputError) as error:
        call(package.open(small_engine))
    assert str(error.value) == said
