"""A malformed table of generic targets would send objects to processors that cannot run them."""

import json
from pathlib import Path
from typing import Any

import pytest

from winnow.errors import InputError
from winnow.targets.generics_file import read_generics
from winnow.targets.tiers import Tier, tier


def write(tmp_path: Path, data: Any) -> Path:
    path = tmp_path / "generics.json"
    path.write_text(json.dumps(data))
    return path


def test_a_table_from_a_file_replaces_the_built_in_one(tmp_path: Path) -> None:
    table = read_generics(write(tmp_path, {"schemaVersion": 1, "generics": {"gfx9-4-generic": ["gfx942"]}}))
    assert tier(["gfx9-4-generic"], "gfx942", table) is Tier.GENERIC
    assert tier(["gfx11-generic"], "gfx1151", table) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"schemaVersion": 2, "generics": {"a-generic": ["b"]}}, "schemaVersion: only schemaVersion 1 is known"),
        ({"schemaVersion": True, "generics": {"a-generic": ["b"]}}, "schemaVersion: Input should be a valid integer"),
        ({"generics": {"a-generic": ["b"]}}, 'schemaVersion: key "schemaVersion" is missing'),
        ({"schemaVersion": 1, "generics": []}, "generics: Input should be a valid dictionary"),
        ({"schemaVersion": 1, "generics": {}}, "generics: Dictionary should have at least 1 item"),
        ({"schemaVersion": 1, "generics": {"gfx11": ["b"]}}, 'the name "gfx11" does not end in "-generic"'),
        ({"schemaVersion": 1, "generics": {"a-generic": []}}, "a-generic has no members"),
        ({"schemaVersion": 1, "generics": {"a-generic": [""]}}, "a-generic has an empty member"),
        ({"schemaVersion": 1, "generics": {"a-generic": ["b", "b"]}}, "a-generic lists a member twice"),
        ({"schemaVersion": 1, "generics": {"a-generic": [7]}}, "generics.a-generic[0]: Input should be a valid string"),
    ],
)
def test_bad_tables(tmp_path: Path, data: Any, said: str) -> None:
    path = write(tmp_path, data)
    with pytest.raises(InputError) as error:
        read_generics(path)
    assert str(error.value).startswith(f"{path}:1: ")
    assert said in str(error.value)
