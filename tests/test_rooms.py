"""The rooms: imports go downward only, nothing imports in a circle, and a room without a floor is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "winnow"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that a test may damage; each puts back what it changed."""
    root = tmp_path_factory.mktemp("rooms")
    shutil.copy(ROOT / "pyproject.toml", root)
    shutil.copytree(PACKAGE, root / "src" / "winnow", ignore=shutil.ignore_patterns("__pycache__"))
    return root


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()", "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
    )


def test_the_package_keeps_its_contracts(tree: Path):
    done = lint(tree)
    assert done.returncode == 0, done.stdout
    assert "Contracts: 2 kept, 0 broken." in done.stdout


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("files/reading.py", "from winnow.cli import app", "winnow.files is not allowed to import winnow.cli"),
        ("errors.py", "from winnow import identity", "winnow.errors is not allowed to import winnow.identity"),
        ("archive/kpack.py", "from winnow.gates import run", "winnow.archive is not allowed to import winnow.gates"),
        (
            "errors.py",
            "def late():\n    from winnow.steps import plan",
            "winnow.errors is not allowed to import winnow.steps",
        ),
        ("selection/naming.py", "from winnow.selection import author", "No cycles are allowed in winnow.selection."),
        (
            "spaces/model/axes.py",
            "def late():\n    from winnow.spaces.model import rule",
            "No cycles are allowed in winnow.spaces.model.",
        ),
        (
            "spaces/rules/arithmetic.py",
            "from winnow.spaces.answers import space",
            "No cycles are allowed in winnow.spaces.",
        ),
    ],
)
def test_a_planted_import_is_refused(tree: Path, file: str, line: str, said: str):
    path = tree / "src" / "winnow" / file
    text = path.read_text()
    path.write_text(f"{text}\n{line}\n")
    try:
        done = lint(tree)
    finally:
        path.write_text(text)
    assert done.returncode == 1
    assert said in done.stdout


@pytest.mark.parametrize("room", ["attic/__init__.py", "attic.py"])
def test_a_room_without_a_floor_is_refused(tree: Path, room: str):
    path = tree / "src" / "winnow" / room
    path.parent.mkdir(exist_ok=True)
    path.write_text('"""A room that nobody planned."""\n')
    try:
        done = lint(tree)
    finally:
        path.unlink()
    assert done.returncode == 1
    assert "- winnow.attic" in done.stdout


@pytest.mark.parametrize("room", sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")))
def test_every_room_says_what_it_is_for_and_what_it_never_knows(room: str):
    if room == "engines":  # package data
        return
    text = (PACKAGE / room / "__init__.py").read_text(encoding="utf-8").split('"""')[1]
    assert "Import" in text, f"{room} does not say what it may import"
    assert any(word in text for word in ("Never", "never", "Alone")), f"{room} does not say what it must never know"
