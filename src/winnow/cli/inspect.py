"""`winnow inspect`: what a catalog, a packed shard, a descriptor, an archive or a code object holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from winnow.cli.console import print_json, table
from winnow.cli.options import JsonOption
from winnow.errors import InputError, Place
from winnow.steps.inspect import inspect_path

_SHOWN = 60
_WIDTH = 100
"""Rows of a table and characters of a cell that are shown unless all are asked for."""


def command(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A directory, a descriptor, a *.kpack or a code object.")
    ],
    show_all: Annotated[bool, typer.Option("--all", help="Show every row of long tables.")] = False,
    as_json: JsonOption = False,
) -> int:
    holds = inspect_path(path)
    damage = holds.get("damage", [])
    _show(holds, show_all=show_all, as_json=as_json)
    if damage:
        place, more = Place(damage[0]["file"]), f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
        raise InputError(f"{damage[0]['problem']}{more}", place=place, cure="pack the catalog again")
    return 0


def _show(holds: Mapping[str, Any], *, show_all: bool, as_json: bool) -> None:
    if as_json:
        print_json(holds)
        return
    for title, rows in _tables(holds):
        listed = rows if show_all else rows[: _SHOWN + 1]
        print(title)
        print(table(listed if show_all else [[_shortened(cell) for cell in row] for row in listed]))
        if len(rows) > len(listed):
            print(f"  … and {len(rows) - len(listed)} more (--all shows them)")


Rows = list[Sequence[object]]


def _tables(holds: Mapping[str, Any]) -> list[tuple[str, Rows]]:
    tables: list[tuple[str, Rows]] = []
    for title, value in holds.items():
        if isinstance(value, Mapping):
            tables.append((title, [(key, _text(item)) for key, item in value.items()]))
        elif value:
            columns = _columns(value)
            rows: Rows = [tuple(column.removeprefix("metadata.") for column in columns)]
            rows += (tuple(_text(_cell(row, column)) for column in columns) for row in value)
            tables.append((f"{title} ({len(value)})", rows))
    return tables


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns of a list of records; of metadata those fields that differ between the rows."""
    names = list(dict.fromkeys(name for row in rows for name in row if name != "metadata"))
    fields = dict.fromkeys(name for row in rows for name in row.get("metadata", {}))
    varying = [name for name in fields if len(rows) == 1 or len({_text(row["metadata"].get(name)) for row in rows}) > 1]
    return [*names, *(f"metadata.{name}" for name in varying)]


def _cell(row: Mapping[str, Any], column: str) -> Any:
    head, _, field = column.partition("metadata.")
    return row["metadata"].get(field) if field and not head else row.get(column)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_text, value)) or "any"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(item)}" for key, item in value.items())
    return str(value)


def _shortened(cell: object) -> str:
    text = str(cell)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
