"""What an importer does wrong is named with the importer and its file, and is no answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fake_package import package

from winnow.errors import InputError
from winnow.importers.importer import Importer, read_imported
from winnow.importers.space_json import SpaceDefinition

_MODULE = """
import sys
from winnow.errors import InputError
from winnow.importers.importer import Importer

def refuse(path):
    raise InputError("line 3 is not one of ours")

RAISES = Importer("raises", "space", (".raises",), lambda path: 1 / 0)
EXITS = Importer("exits", "space", (".exits",), lambda path: sys.exit("no licence"))
NONE = Importer("none", "space", (".none",), lambda path: None)
REFUSES = Importer("refuses", "space", (".refuses",), refuse)
"""


@pytest.fixture(autouse=True)
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("raises", "exits", "none", "refuses")
    entries = "\n".join(f"{name} = faulty_importers:{name.upper()}" for name in names)
    package(tmp_path / "packages", "faulty", f"[winnow.importers]\n{entries}\n", faulty_importers=_MODULE)
    monkeypatch.syspath_prepend(tmp_path / "packages")


@pytest.mark.parametrize(
    ("suffix", "said"),
    [
        ("raises", 'the importer "raises" raised ZeroDivisionError: division by zero'),
        ("exits", 'the importer "exits" raised SystemExit: no licence'),
        ("none", 'the importer "none" gave a value of type NoneType, not SpaceDefinition'),
    ],
)
def test_an_importer_that_fails_is_named_with_the_file(suffix: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_imported("space", Path(f"a.{suffix}"), None, SpaceDefinition)
    assert str(error.value) == f"a.{suffix}: {said}\n  cure: correct the package that brings the importer"


def test_what_an_importer_refuses_is_the_users_to_read() -> None:
    with pytest.raises(InputError, match=r"^line 3 is not one of ours$"):
        read_imported("space", Path("a.refuses"), None, SpaceDefinition)


def test_the_command_says_it_too(winnow: Any) -> None:
    code, out, err = winnow("space", "a.raises")
    assert (code, out) == (2, "")
    assert err.startswith('winnow: a.raises: the importer "raises" raised ZeroDivisionError: division by zero\n')


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": 1}, "name of an importer is a text (value: 1)"),
        ({"reads": "spaces"}, "reads of an importer is one of space, evidence (value: 'spaces')"),
        ({"suffixes": ".json"}, "suffixes of an importer is a tuple of texts (value: '.json')"),
        ({"suffixes": (1,)}, "suffixes of an importer is a tuple of texts (value: (1,))"),
        ({"read": None}, "read of an importer is a function (value: None)"),
    ],
)
def test_an_importer_of_other_values_cannot_be_made(changed: dict[str, Any], said: str) -> None:
    sound: dict[str, Any] = {"name": "n", "reads": "space", "suffixes": (".n",), "read": Path.read_bytes}
    with pytest.raises(TypeError, match=f"^{re.escape(said)}$"):
        Importer(**{**sound, **changed})
