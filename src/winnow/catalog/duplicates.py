"""Kernels that a loader could not tell apart: one and the same twice is dropped, two different ones are refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from winnow.catalog.descriptors import KmdField
from winnow.catalog.expand import Kernel
from winnow.catalog.fields import completed
from winnow.errors import Refused
from winnow.identity import canonical_json
from winnow.targets.tiers import compete

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
