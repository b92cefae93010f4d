"""Walks over the foreign registries, with a manifest that a test edits."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_files import foreign_engine

from winnow.errors import InputError
from winnow.selection.enumerate import walk_registry
from winnow.settings.manifest import load_manifest


def walked(tmp_path: Path, text: str, *edits: tuple[str, str]):
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return walk_registry(load_manifest(foreign_engine(tmp_path, text)))


def refusal(tmp_path: Path, text: str, *edits: tuple[str, str]) -> str:
    with pytest.raises(InputError) as caught:
        walked(tmp_path, text, *edits)
    return str(caught.value).replace(str(tmp_path), "DIR")
