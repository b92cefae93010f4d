"""Families by name, from the entry-point group `winnow.families`."""

from __future__ import annotations

from functools import cache
from typing import Any

from winnow.errors import InputError, Place, nearest
from winnow.families.adapter import FamilyAdapter


@cache
def installed_families() -> dict[str, Any]:
    """The entry points of the installed families by name."""
    from importlib.metadata import entry_points  # costs a tenth of the budget for importing the runtime

    return {entry.name: entry for entry in entry_points(group="winnow.families")}


def find_family(name: str, place: Place | None = None) -> FamilyAdapter:
    """The adapter of an installed family.

    Raises:
        InputError: no installed package offers it.
    """
    if name not in installed_families():
        raise InputError(
            f'no family "{name}" is installed',
            place=place,
            cure=nearest(name, installed_families()) + "; families are entry points of the group winnow.families",
        )
    adapter: FamilyAdapter = installed_families()[name].load()
    return adapter
