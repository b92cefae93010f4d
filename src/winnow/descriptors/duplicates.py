"""Kernels with equal metadata: which one serves a device, which repeat one another, and which no loader tells apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.tree import Catalog
from winnow.errors import Refused
from winnow.identity import canonical_json
from winnow.metadata import completed
from winnow.selection.kernel import Kernel
from winnow.settings.fields import KmdField
from winnow.targets.generics import GENERICS
from winnow.targets.tiers import Tier, compete, tier

T = TypeVar("T")


def competitors(items: Iterable[tuple[T, Mapping[str, Any], Sequence[str]]]) -> Iterator[tuple[T, T]]:
    """Pairs of (item, completed metadata, arches) with equal metadata and the same tier on some device.

    Each comes with the first one that it ties with. A loader drops the whole engine for such a pair.
    """
    seen: dict[str, list[tuple[T, Sequence[str]]]] = {}
    for item, metadata, arch in items:
        rivals = seen.setdefault(canonical_json(metadata), [])
        tied = next((rival for rival, theirs in rivals if compete(theirs, arch)), None)
        if tied is not None:
            yield tied, item
        rivals.append((item, arch))


def distinct(fields: Sequence[KmdField], kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    """The kernels without those that repeat an earlier one: the same source, spec, arches and metadata.

    Raises:
        Refused: two different kernels, or one for different arches that overlap, have equal completed metadata.
    """
    dropped: set[str] = set()
    for first, again in competitors((k, completed(fields, k.metadata), k.arch) for k in kernels):
        same = first.kernel_source == again.kernel_source and sorted(first.arch) == sorted(again.arch)
        if not same:
            raise Refused(
                f"{again.name} and {first.name} have the same metadata and compete on a device",
                place=again.place,
                cure="a loader drops the whole engine: let a metadata field tell them apart, or remove one",
            )
        dropped.add(again.name)
    return tuple(kernel for kernel in kernels if kernel.name not in dropped)


def devices_of(catalog: Catalog) -> tuple[str, ...]:
    """Every device that some kernel names, by itself or through a generic target, in the catalog's order."""
    named = (entry for kdp, kernel in catalog.kernels() for entry in kdp.arch_of(kernel))
    return tuple(dict.fromkeys(device for entry in named for device in GENERICS.get(entry, (entry,))))


def served(catalog: Catalog, device: str) -> tuple[tuple[Kdp, Ukd, Tier], ...]:
    """The kernels that a device may come to run, in the catalog's order: of equal metadata the one in the best tier."""
    best: dict[str, tuple[int, Kdp, Ukd, Tier]] = {}
    for order, (kdp, kernel) in enumerate(catalog.kernels()):
        found = tier(kdp.arch_of(kernel), device)
        key = canonical_json(catalog.completed_metadata(kernel))
        if found is not None and (key not in best or found < best[key][3]):
            best[key] = (order, kdp, kernel, found)
    return tuple((kdp, kernel, found) for _, kdp, kernel, found in sorted(best.values(), key=lambda item: item[0]))
