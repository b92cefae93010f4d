"""Shapes files: problems as plain records of sizes, without the graphs that they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.errors import InputError, Place
from winnow.strict.json_reader import load_json


@dataclass(frozen=True)
class Shape:
    """One record of a shapes file without its annotations. `name` is the graph that it was mined from, if it says so.

    What its keys mean is for the reader to translate: a mask's number, above all, is the miner's own.
    """

    name: str
    fields: Mapping[str, Any]
    place: Place


def read_shapes(path: Path) -> tuple[Shape, ...]:
    """Every shape of a file (a JSON list of records; keys that start with `_` are annotations), in its order.

    Raises:
        InputError: unreadable, not a list of records, a value that is not a scalar, no shape at all.
    """
    document = load_json(path)
    if not isinstance(document.data, list):
        raise InputError("a shapes file is a list of records", place=Place(str(path)))
    if not document.data:
        raise InputError("no shape in this file", place=Place(str(path)), cure="a check over nothing checks nothing")
    shapes: list[Shape] = []
    for i, record in enumerate(document.data):
        if not isinstance(record, dict):
            raise InputError(f"a shape is a record, not {record!r}", place=document.place(i))
        fields = {key: value for key, value in record.items() if not key.startswith("_")}
        for key, value in fields.items():
            if not isinstance(value, (bool, int, float, str)):
                raise InputError(f"{value!r} is not a number, text or boolean", place=document.place(i, key))
        shapes.append(Shape(_name(record, f"{path.name.removesuffix('.shapes.json')}[{i}]"), fields, document.place(i)))
    return tuple(shapes)


def _name(record: Mapping[str, Any], otherwise: str) -> str:
    provenance = record.get("_provenance")
    named = provenance.get("graph") if isinstance(provenance, dict) else None
    return named if isinstance(named, str) and named else otherwise
