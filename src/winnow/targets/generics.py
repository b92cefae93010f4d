"""Which processors a generic target runs on: membership is data, never the shape of a name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from winnow.plugins import OpenTable
from winnow.targets.arches import GROUP, checked_table

GenericTable = Mapping[str, tuple[str, ...]]


def _members_of(table: object) -> Iterator[tuple[str, tuple[str, ...]]]:
    return ((name, tuple(members)) for name, members in checked_table(table).generics.items())


GENERICS: OpenTable[tuple[str, ...]] = OpenTable(GROUP, _members_of)
"""Members by generic target."""


def is_generic_name(name: str) -> bool:
    """True for a name that claims to be generic, whether or not any table knows it."""
    return name.endswith("-generic")
