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
