"""An installed Winnow must hold what a checkout does: kernels, engines, corpora, templates."""

from __future__ import annotations

import tomllib
from pathlib import Path

import winnow

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "winnow"


def test_every_data_file_is_package_data():
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["winnow"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    data = {p for p in PACKAGE.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")}
    assert data <= packed
    assert any(path.suffix == ".c" for path in data)


def test_every_directory_with_modules_is_a_package():
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert {folder for folder in folders if not (folder / "__init__.py").is_file()} == set()


def test_the_version_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == winnow.__version__


def test_rooms_import_only_downward():
    floors = [
        {"errors", "strict", "identity", "files"},
        {"targets", "registry", "tuning"},
        {"graphs", "catalog", "families"},
        {"compilers", "pack", "devices"},
        {"engine"},
        {"sweep", "reduce", "groundtruth", "interpreter"},
        {"gates"},
        {"report", "cli", "pytest_plugin", "engines"},
    ]
    floor_of = {room: floor for floor, rooms in enumerate(floors) for room in rooms}
    # A family's builders make the compilers' source values, and a device's protocol speaks of their arguments.
    values = {"winnow.compilers.source", "winnow.compilers.code_object"}
    upward = []
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:1] in (["from"], ["import"]) and words[1].startswith("winnow.") and words[1] not in values:
                other = words[1].split(".")[1]
                if floor_of.get(other, 0) > floor_of.get(room, 99):
                    upward.append(f"{path.relative_to(PACKAGE)}: {line.strip()}")
    assert upward == []
