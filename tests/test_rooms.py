"""The rooms: imports go downward only, nothing imports in a circle, and a room without a floor is refused."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "winnow"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that a test may damage; each puts back what it changed."""
    root = tmp_path_factory.mktemp("rooms")
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "import_contracts.py", root / "tools")
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
    assert "Contracts: 4 kept, 0 broken." in done.stdout


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
        (
            "wording.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from winnow.settings.manifest import Manifest",
            "winnow.wording is not allowed to import winnow.settings",
        ),
        # The package's own names lead to every room.
        ("errors.py", "def late():\n    import winnow", "winnow.errors is not allowed to import winnow.runtime"),
        (
            "spaces/model/axes.py",
            "from winnow import identity",
            "winnow.spaces is not allowed to import winnow.identity",
        ),
        ("reduce/noise.py", "import sqlite3", "winnow.reduce.noise -> sqlite3"),
        ("files/reading.py", "from winnow.files import locked", "winnow.files -> winnow.files.reading -> winnow.files"),
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


ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py") if path.parent.name != "engines")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
LAYERS = [set(layer.split(" | ")) for contract in CONTRACTS for layer in contract.get("layers", ())]
FLOOR = set().union(*(layer for layer in LAYERS[LAYERS.index({"machine", "metadata", "strict"}) :])) - {"spaces"}


def docstring(room: str) -> str:
    found = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")))
    assert found is not None
    return " ".join(found.split())


def imported_rooms(room: str) -> set[str]:
    found: set[str] = set()
    for path in (PACKAGE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "winnow":
                inside = str(node.module).split(".")[1:2]
                found.update(inside or (alias.name for alias in node.names))
    return found - {room}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_says_what_it_imports_and_what_it_never_knows(room: str):
    text = docstring(room)
    assert any(word in text for word in ("Never", "never", "Alone")), f"{room} does not say what it must never know"
    sentence = text[text.index("Imports ") :].split(". ")[0]
    if "every room below" not in sentence:
        named = {name for name in re.findall(r"`(\w+)`", sentence) if (PACKAGE / name).exists() or name in FLOOR}
        assert named == imported_rooms(room) - (set() if room in FLOOR | {"spaces"} else FLOOR)


def test_every_folder_with_code_is_a_package_that_the_contracts_see():
    folders = {path.parent for path in PACKAGE.rglob("*.py") if path.parent.name != "kernels"}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_the_contracts_make_no_exceptions():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    holes = ("ignore_imports", "exhaustive_ignores", "skip_descendants", "depth")
    assert "exclude_type_checking_imports" not in tools["importlinter"]
    assert [(c["name"], hole) for c in tools["importlinter"]["contracts"] for hole in holes if hole in c] == []


def imported_by_name(tree: ast.AST) -> Iterator[str]:
    """The rooms that calls of `import_module` name in full: import-linter does not see these."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            name = ast.unparse(node.args[0]).lstrip("f").strip("'\"")
            if name.startswith("winnow."):
                yield name.split(".")[1]


@pytest.mark.parametrize("call", ["import_module('winnow.cli.app')", 'importlib.import_module(f"winnow.cli.{name}")'])
def test_an_import_by_name_is_found_in_either_spelling(call: str):
    assert list(imported_by_name(ast.parse(call))) == ["cli"]


def test_an_import_by_name_stays_in_its_room():
    strays = [
        f"{path.relative_to(PACKAGE)}: {room}"
        for path in PACKAGE.rglob("*.py")
        for room in imported_by_name(ast.parse(path.read_text(encoding="utf-8")))
        if room != path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    ]
    assert strays == []
