"""Which processors a generic target runs on: membership is data, never the shape of a name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import Field, field_validator

from winnow.strict.json_reader import load_json
from winnow.strict.schema import StrictModel, validate

GenericTable = Mapping[str, tuple[str, ...]]

GENERICS: GenericTable = MappingProxyType(
    {
        "gfx11-generic": (
            "gfx1100",
            "gfx1101",
            "gfx1102",
            "gfx1103",
            "gfx1150",
            "gfx1151",
            "gfx1152",
            "gfx1153",
        ),
        "gfx12-generic": ("gfx1200", "gfx1201"),
        "x86-64-generic": ("x86-64-v2", "x86-64-v3", "x86-64-v4"),
    }
)
"""Members by generic target. The gfx rows are hipDNN's whole table; the CPU row is Winnow's own."""


def is_generic_name(name: str) -> bool:
    """True for a name that claims to be generic, whether or not any table knows it."""
    return name.endswith("-generic")


class _GenericsFile(StrictModel):
    schema_version: int = Field(alias="schemaVersion")
    generics: dict[str, list[str]] = Field(min_length=1)

    @field_validator("schema_version")
    @classmethod
    def _version(cls, version: int) -> int:
        if version != 1:
            raise ValueError("only schemaVersion 1 is known")
        return version

    @field_validator("generics")
    @classmethod
    def _rows(cls, rows: dict[str, list[str]]) -> dict[str, Any]:
        for name, members in rows.items():
            if not is_generic_name(name):
                raise ValueError(f'the name "{name}" does not end in "-generic"')
            if not members:
                raise ValueError(f"{name} has no members")
            if not all(members):
                raise ValueError(f"{name} has an empty member")
            if len(set(members)) != len(members):
                raise ValueError(f"{name} lists a member twice")
        return rows


def read_generics(path: Path) -> GenericTable:
    """A generic-target table from a file in hipDNN's form: `{"schemaVersion": 1, "generics": {name: [member, …]}}`.

    Raises:
        InputError: another version, a name that does not end in `-generic`, no, empty or repeated members.
    """
    rows = validate(_GenericsFile, load_json(path)).generics
    return MappingProxyType({name: tuple(members) for name, members in rows.items()})
