"""Which processors a generic target runs on: membership is data, never the shape of a name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
