"""A procedure that nobody runs rots: every command of the runbook is run here, in its order, on a small engine."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from small_engine import GRAPHS, manifest_text

from winnow.cli.commands import COMMANDS
from winnow.gates.find import all_gates
from winnow.settings.manifest import load_manifest
from winnow.targets.cpu import host_level

GATES = tuple(all_gates())
DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "runbook.md").read_text()
BY_HAND = "<!-- a person edits engine.yaml and corpus/ here -->"


def edit_by_hand(engine: Path) -> None:
    """What a person does after step 1: a slice of a few kernels, and the graphs of a few models."""
    (engine / "engine.yaml").write_text(manifest_text([host_level()]))
    for path in (engine / "corpus").glob("*.json"):
        if path.stem not in GRAPHS:
            path.unlink()


@pytest.mark.slow
def test_the_commands_of_the_runbook_end_with_all_gates_passed(tmp_path: Path, winnow, monkeypatch):
    assert PAGE.count(BY_HAND) == 1
    steps = re.findall(rf"```sh\n(.*?)```|({re.escape(BY_HAND)})", PAGE, flags=re.DOTALL)
    where = tmp_path
    out = ""
    for commands, by_hand in steps:
        if by_hand:
            edit_by_hand(where)
        for line in commands.splitlines():
            word, *arguments = shlex.split(line)
            if word == "cd":
                where = where / arguments[0]
            elif word == "cp":
                shutil.copy(where / arguments[0], where / arguments[1])
            else:
                assert word == "winnow", line
                monkeypatch.chdir(where)
                code, out, err = winnow(*arguments)
                assert code == 0, f"{line}: {code}\n{out}\n{err}"
    states = [line.split()[1] for line in out.splitlines()]
    assert states == ["passed"] * len(GATES)


def test_every_gate_is_named_in_the_runbook_and_every_named_gate_exists():
    named = {name for line in PAGE.splitlines() if line.startswith("winnow check ") for name in line.split()[2:]}
    assert named <= set(GATES)
    assert {"header", "registry", "budget", "vocabulary", "coverage", "regeneration", "reduction"} <= named


def test_the_coverage_section_of_the_runbook_is_a_valid_one(tmp_path: Path):
    section = next(block for block in re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL) if "coverage:" in block)
    path = tmp_path / "engine.yaml"
    path.write_text(manifest_text([host_level()]) + section)
    values = load_manifest(path).manifest.coverage.values
    assert values["mask_type"]["2"] == "a sliding window is not expressible"


def spoken_of(page: str) -> list[list[str]]:
    """The words of every `winnow …` that a page has in backticks."""
    return [words.split() for words in re.findall(r"`winnow ([^`]+)`", page)]


@pytest.mark.parametrize("page", ["runbook.md", "coming-from-ingestor-generator.md", "selection.md"])
def test_every_command_option_and_gate_that_a_page_speaks_of_exists(page: str, winnow):
    helps: dict[str, str] = {}
    for name, *words in spoken_of((DOCS / page).read_text()):
        assert name in COMMANDS, name
        if name not in helps:
            helps[name] = winnow(name, "--help")[1]
        for option in (word for word in words if word.startswith("--")):
            assert option in helps[name], f"winnow {name} has no {option}"
        if name == "check":
            assert {word for word in words if not word.startswith("-")} - {"github", "junit"} <= set(GATES)


def test_the_pre_commit_hook_runs_gates_that_exist():
    hooks = YAML(typ="safe").load((DOCS.parent / ".pre-commit-hooks.yaml").read_text())
    (hook,) = hooks
    program, command, *gates = hook["entry"].split()
    assert (program, command) == ("winnow", "check")
    assert gates
    assert set(gates) <= set(GATES)
    matched = re.compile(hook["files"])
    for path in ("engine.yaml", "a/selection.yaml", "a/catalog/x.kdp.json", "corpus/g.json", "catalog/x.kmd.json"):
        assert matched.search(path), path
    assert not matched.search("src/thing.json")
