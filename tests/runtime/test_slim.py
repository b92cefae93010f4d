"""What users embed must not drag in what authors use: each library there costs a wheel and a start."""

from __future__ import annotations

import subprocess
import sys

import pytest

import winnow.runtime

IMPORT_ALL = """
import importlib, pkgutil, sys
for name in {packages}:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        importlib.import_module(module.name)
print(*sys.modules)
"""
HEAVY = {
    *("pydantic", "pydantic_core", "ruamel", "typer", "rich", "scipy", "jinja2", "elftools"),
    *("winnow.selection", "winnow.registry", "winnow.settings", "winnow.descriptors", "winnow.cli"),
    *("winnow.strict.schema", "winnow.strict.yaml_reader"),
}


@pytest.mark.parametrize("packages", [["winnow.archive"], ["winnow.archive", "winnow.runtime"]])
def test_every_file_imports_without_what_authors_use(packages: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL.format(packages=packages)], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "winnow.archive.verify" in loaded
    assert not loaded & HEAVY


def test_the_package_itself_loads_nothing_until_it_is_asked() -> None:
    code = "import sys, winnow.runtime; print(sorted(m for m in sys.modules if m.startswith(('numpy', 'winnow.'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['winnow.runtime']\n"


def test_every_public_name_is_the_one_of_its_file() -> None:
    for name in winnow.runtime.__all__:
        found = getattr(winnow.runtime, name)
        assert (found.__name__, found.__module__.rpartition(".")[0]) == (name, "winnow.runtime")
    assert set(winnow.runtime.__all__) <= set(dir(winnow.runtime))
    with pytest.raises(AttributeError, match=r"module 'winnow\.runtime' has no attribute 'load_engin'"):
        winnow.runtime.load_engin  # noqa: B018 - asking is the test
