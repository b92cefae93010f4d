"""The manifest's `fields:` section: all about a metadata field in one place, spread over the sections that use it.

A manifest declares its metadata here, or in hipDNN's own sections (`kmd_fields`, `specialization`, `engine.knobs`)
together with `reduction.performance` and `enumerate.accessors`; never in both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, model_validator

from winnow.errors import InputError, Place
from winnow.metadata import FieldType
from winnow.settings.fields import Scalar
from winnow.strict.document import Document, Key
from winnow.strict.schema import StrictModel, validate

FIELDS = "fields"

_SPREAD: tuple[tuple[str, ...], ...] = (
    ("kmd_fields",),
    ("specialization",),
    ("engine", "knobs"),
    ("reduction", "performance"),
    ("enumerate", "accessors"),
)
"""The keys that the section stands for."""


class FieldEntry(StrictModel):
    """One metadata field: its type, where its value is read from a spec, and what it is for.

    A value is read from the spec's field of the same name, or from `field`, or from the method `method`; a field that
    is `matcher_only` is read from nothing. `vocabulary` spells a spec's values as matchers compare them. The engine
    offers a `knob` to its users; a number is its place among them, otherwise they have the fields' order. `divides`
    names the problem field that the value must divide. `accessor` is the spec's attribute or method that has the value
    where a registry leaves it to the kernel's policy.
    """

    type: FieldType
    default: Scalar | list[int] | None = None
    field: str | None = None
    method: str | None = None
    matcher_only: bool = False
    vocabulary: dict[str, Scalar] = Field(default_factory=dict)
    knob: bool | Annotated[int, Field(ge=1)] = False
    divides: str | None = None
    accessor: str | None = None

    @model_validator(mode="after")
    def _one_origin(self) -> FieldEntry:
        origins = [self.field is not None, self.method is not None, self.matcher_only]
        if sum(origins) > 1:
            raise ValueError("say at most one of field, method and matcher_only")
        return self

    @property
    def knob_order(self) -> float:
        """The place that was stated among the knobs; those that state none come after."""
        return math.inf if self.knob is True else float(self.knob)

    def binding(self, name: str) -> dict[str, str]:
        """Where the value is read from a spec, as `specialization.bindings` says it."""
        return {"method": self.method} if self.method is not None else {"field": self.field or name}


class FieldTable(StrictModel):
    """The whole section."""

    fields: dict[str, FieldEntry] = Field(min_length=1)


@dataclass(frozen=True)
class SpreadDocument(Document):
    """A document whose sections were made from `fields:`. Places of what was made are those of the field."""

    origins: Mapping[tuple[Key, ...], tuple[Key, ...]] = field(default_factory=dict)

    def place(self, *path: Key) -> Place:
        """The place of a key path in the file as it was written."""
        for length in range(len(path), 0, -1):
            origin = self.origins.get(path[:length])
            if origin is not None:
                inside = (*origin, *path[length:])
                return super().place(*(inside if inside in self.lines else origin))
        return super().place(*path)


def spread(document: Document) -> Document:
    """The document with its `fields:` as the sections that it stands for; unchanged where it has no `fields:`.

    Raises:
        InputError: the section is malformed, or one of the sections that it stands for is there as well.
    """
    data = document.data
    if not isinstance(data, dict) or FIELDS not in data:
        return document
    for path in _SPREAD:
        if _there(data, path):
            raise InputError(
                f"metadata is declared here and in {FIELDS}",
                place=document.place(*path),
                cure=f"say it in {FIELDS} alone",
            )
    entries = validate(FieldTable, Document(document.file, {FIELDS: data[FIELDS]}, document.lines)).fields
    made: dict[str, Any] = {key: value for key, value in data.items() if key != FIELDS}
    origins: dict[tuple[Key, ...], tuple[Key, ...]] = {("specialization",): (FIELDS,), ("kmd_fields",): (FIELDS,)}
    made["kmd_fields"] = []
    for i, (name, entry) in enumerate(entries.items()):
        declared = {"name": name, "type": entry.type}
        made["kmd_fields"].append(declared if entry.default is None else {**declared, "default_value": entry.default})
        origins |= dict.fromkeys((("kmd_fields", i), *_made_of(name)), (FIELDS, name))
    bound = {name: entry for name, entry in entries.items() if not entry.matcher_only}
    made["specialization"] = {
        "metadata_fields": list(bound),
        "matcher_only_fields": [name for name, entry in entries.items() if entry.matcher_only],
        "bindings": {name: entry.binding(name) for name, entry in bound.items()},
        "vocabulary": {name: entry.vocabulary for name, entry in entries.items() if entry.vocabulary},
    }
    knobs = sorted((name for name, entry in entries.items() if entry.knob), key=lambda name: entries[name].knob_order)
    origins |= {("engine", "knobs", i): (FIELDS, name, "knob") for i, name in enumerate(knobs)}
    _put(made, "engine", "knobs", knobs)
    accessors = {name: entry.accessor for name, entry in entries.items() if entry.accessor is not None}
    _put(made, "enumerate", "accessors", accessors)
    _put(made, "reduction", "performance", _performance(data, entries))
    return SpreadDocument(document.file, made, document.lines, origins)


def _there(data: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    inside: Any = data
    for key in path:
        if not isinstance(inside, dict) or key not in inside:
            return False
        inside = inside[key]
    return True


def _made_of(name: str) -> tuple[tuple[Key, ...], ...]:
    """The paths of what is made of one field, but for those with an index."""
    return (
        ("specialization", "bindings", name),
        ("specialization", "vocabulary", name),
        ("reduction", "performance", name),
        ("enumerate", "accessors", name),
    )


def _performance(data: Mapping[str, Any], entries: Mapping[str, FieldEntry]) -> dict[str, Any]:
    """Every field outside the cell changes speed only."""
    section = data.get("reduction")
    cell = section.get("cell") if isinstance(section, dict) else None
    inside = cell if isinstance(cell, list) else []
    return {
        name: {} if entry.divides is None else {"divides": entry.divides}
        for name, entry in entries.items()
        if name not in inside
    }


def _put(made: dict[str, Any], section: str, key: str, value: Any) -> None:
    """Put what was made into a section, where there is one; its absence is an error of its own later."""
    if value and isinstance(made.get(section), dict):
        made[section] = {**made[section], key: value}
