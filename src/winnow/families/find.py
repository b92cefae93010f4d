"""Families by name, from the entry-point group `winnow.families`."""

from __future__ import annotations

from winnow import plugins
from winnow.errors import Place
from winnow.families.adapter import FamilyAdapter

GROUP = "winnow.families"


def installed_families() -> tuple[str, ...]:
    """The names of the installed families."""
    return plugins.installed(GROUP)


def find_family(name: str, place: Place | None = None) -> FamilyAdapter:
    """The adapter of an installed family, held to its contract: nothing calls a family otherwise.

    Raises:
        InputError: no installed package offers it, it cannot be loaded, or it is not a family.
    """
    from winnow.families.checked import checked  # needs NumPy, which a look at the installed names does not

    return checked(name, plugins.load(GROUP, name, place=place))
