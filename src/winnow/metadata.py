"""Metadata against its declaration: completed with defaults, and whether a value is of its declared type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

FieldType = Literal["bool", "int", "float", "string", "int_list"]

NOT_SET = -1
"""What some generators wrote for "not set": readers take it so, whatever it was meant to say."""

_TYPES: Mapping[str, tuple[type, ...]] = {"bool": (bool,), "int": (int,), "float": (float, int), "string": (str,)}


class DeclaredField(Protocol):
    """A metadata field as it is declared. Without a default every kernel states it."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> FieldType: ...

    @property
    def default_value(self) -> Any: ...


def completed(fields: Sequence[DeclaredField], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with the declared defaults filled in, in the declared order; whole numbers of float fields as floats."""
    record = {field.name: metadata.get(field.name, field.default_value) for field in fields}
    for field in fields:
        if field.type == "float" and type(record[field.name]) is int:
            record[field.name] = float(record[field.name])
    return record


def fits(kind: str, value: Any) -> bool:
    """Whether a loader takes this value for a field of this type: nothing is converted but an int to a float."""
    if kind == "int_list":
        return type(value) is list and all(type(item) is int for item in value)
    return type(value) in _TYPES[kind]


def metadata_problems(fields: Sequence[DeclaredField], metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(field, what is wrong) of metadata that a loader would refuse, or that says "not set" by -1."""
    declared = {field.name: field for field in fields}
    for name, value in metadata.items():
        if name not in declared:
            yield name, f'metadata field "{name}" is not declared'
        elif not fits(declared[name].type, value):
            yield name, f'metadata field "{name}" is of type {declared[name].type}, the value is {value!r}'
        elif value == NOT_SET and type(value) in (int, float):
            yield name, f'metadata field "{name}" is -1, which readers take for "not set"'
    for name, field in declared.items():
        if name not in metadata and field.default_value is None:
            yield name, f'no value for the metadata field "{name}", which has no default'
