"""Names of architectures as descriptors may spell them."""

from __future__ import annotations

import re

from winnow.errors import nearest
from winnow.targets.arches import ARCHES
from winnow.targets.generics import GENERICS, is_generic_name

_SHAPE = re.compile(r"gfx[a-z0-9_-]+|sm_[0-9]+[a-z]?|x86-64-[a-z0-9]+")

# Processors that hipDNN's generator knows and of which Winnow has no facts.
_WITHOUT_FACTS = frozenset({"gfx900", "gfx906", "gfx908", "gfx940", "gfx941", "gfx1030"})


def arch_problem(name: str) -> str | None:
    """Why no descriptor may name this arch, or None where it may."""
    if ":" in name:
        return f'arch "{name}" has a feature suffix: write "{name.partition(":")[0]}"'
    if name not in ARCHES and not _SHAPE.fullmatch(name):
        return f'arch "{name}" has not the shape of a target\'s name ({ARCHES.missing(name)})'
    if is_generic_name(name) and name not in GENERICS:
        return f'no table has members of the generic arch "{name}", so it admits no device ({nearest(name, GENERICS)})'
    if name not in ARCHES and name not in _WITHOUT_FACTS:
        return f'unknown arch "{name}" ({ARCHES.missing(name)})'
    return None
