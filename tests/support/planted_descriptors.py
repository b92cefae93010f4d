"""Defects planted into the descriptor files of an engine directory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def change(path: Path, edit: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Edit one JSON file in place; returns what it then holds."""
    record: dict[str, Any] = json.loads(path.read_text())
    edit(record)
    path.write_text(json.dumps(record, indent=2) + "\n")
    return record


def pack(engine: Path, pattern: str = "*blocked*.kdp.json") -> Path:
    """The file of one pack of the catalog."""
    return next((engine / "catalog").glob(pattern))


def change_kernel(
    engine: Path, edit: Callable[[dict[str, Any]], Any], index: int = 0, pattern: str = "*blocked*"
) -> str:
    """Edit one kernel of a pack in place; returns the name that it then has."""
    found = change(pack(engine, f"{pattern}.kdp.json"), lambda record: edit(record["kernelDescriptors"][index]))
    return str(found["kernelDescriptors"][index]["name"])


def to_own_file(engine: Path, index: int = 0) -> Path:
    """Move one kernel of a pack into a file of its own; returns the file."""
    path = pack(engine)
    record = json.loads(path.read_text())
    kernel = record["kernelDescriptors"][index]
    record["kernelDescriptors"][index] = kernel["id"]
    path.write_text(json.dumps(record, indent=2) + "\n")
    own = path.with_name("one.ukd.json")
    own.write_text(json.dumps(kernel, indent=2) + "\n")
    return own
