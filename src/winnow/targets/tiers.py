"""The tier algebra over arch lists: which list serves a device, how well, and which lists compete for one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from winnow.targets.generics import GENERICS, GenericTable, is_generic_name


class Tier(IntEnum):
    """How closely an arch list names a device. The lower tier wins."""

    EXPLICIT = 0
    GENERIC = 1
    UNRESTRICTED = 2


def tier(arch_list: Sequence[str], device: str, generics: GenericTable = GENERICS) -> Tier | None:
    """The tier that `arch_list` gives `device` (`gfx942`, `gfx942:xnack-`); None where it does not admit it.

    An empty list admits everything. A generic name that the table lacks admits nothing, not even itself.
    """
    if not arch_list:
        return Tier.UNRESTRICTED
    base = device.partition(":")[0]
    if any(entry in (device, base) for entry in arch_list if not is_generic_name(entry)):
        return Tier.EXPLICIT
    if any(base in generics.get(entry, ()) for entry in arch_list):
        return Tier.GENERIC
    return None


def expand(arch_list: Sequence[str], generics: GenericTable = GENERICS) -> frozenset[str] | None:
    """The devices that a list admits by name or membership; None (every device) for an empty list."""
    return frozenset(_named(arch_list, generics)) if arch_list else None


def _named(arch_list: Sequence[str], generics: GenericTable) -> set[str]:
    named: set[str] = set()
    for entry in arch_list:
        named.update(generics.get(entry, ()) if is_generic_name(entry) else (entry,))
    return named


def admits_target(arch_list: Sequence[str], target: str, generics: GenericTable = GENERICS) -> bool:
    """True where `tier` is not None."""
    return tier(arch_list, target, generics) is not None


def overlaps(a: Sequence[str], b: Sequence[str], generics: GenericTable = GENERICS) -> bool:
    """True where some device is admitted by both lists; an empty list overlaps everything."""
    if not a or not b:
        return True
    devices = _named(a, generics) | _named(b, generics)
    return any(admits_target(a, device, generics) and admits_target(b, device, generics) for device in devices)


def covers(outer: Sequence[str], inner: Sequence[str], generics: GenericTable = GENERICS) -> bool:
    """True where `outer` admits every device that `inner` names, or where either list is empty."""
    if not outer or not inner:
        return True
    return _named(inner, generics) <= _named(outer, generics)


def compete(a: Sequence[str], b: Sequence[str], generics: GenericTable = GENERICS) -> bool:
    """True where some device gets the same tier from both lists, so that equal metadata would be a tie there."""
    if not a and not b:
        return True
    for device in _named(a, generics) | _named(b, generics):
        of_a = tier(a, device, generics)
        if of_a is not None and of_a == tier(b, device, generics):
            return True
    return False


def admitted_target(arch_list: Sequence[str], arch: str) -> tuple[Tier, str] | None:
    """The tier in which an arch list admits a shard's arch and the target to compile for; None where it does not.

    A shard of a generic target takes what names that target itself.
    """
    if is_generic_name(arch) and arch in arch_list:
        return Tier.GENERIC, arch
    found = tier(arch_list, arch)
    if found is Tier.GENERIC:
        return found, next(entry for entry in arch_list if arch in GENERICS.get(entry, ()))
    return None if found is None else (found, arch)
