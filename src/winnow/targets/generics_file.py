"""A table of generic targets from a file in hipDNN's form."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import Field, field_validator

from winnow.strict.json_reader import load_json
from winnow.strict.schema import StrictModel, validate
from winnow.targets.generics import GenericTable, is_generic_name


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
