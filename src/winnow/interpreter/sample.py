"""A few kernels that stand for many: together they have every pair of values that any kernel has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

FEW = 64
"""So many kernels, or fewer, need nobody to stand for them: all are run."""


def sample(records: Sequence[Mapping[str, Any]], cell: Collection[str]) -> tuple[int, ...]:
    """Places of kernels' metadata, in order: of all, where they are few, or of those that cover them.

    The fields outside `cell`, together, are one: what a kernel's tile is.
    """
    if len(records) <= FEW:
        return tuple(range(len(records)))
    return covering([_held(record, cell) for record in records])


def covering(records: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Places of records that hold every value of a field, and every two values of two fields, that any record holds.

    Each time the one with most new ones is taken. Ties go to the earlier record, so that the sample is the same
    everywhere.
    """
    # A pair of one and the same is that value by itself.
    holdings = [set(combinations_with_replacement(sorted(record.items(), key=_field), 2)) for record in records]
    missing = set().union(*holdings)
    chosen: list[int] = []
    while missing:
        best = max(range(len(records)), key=lambda i: (len(holdings[i] & missing), -i))
        chosen.append(best)
        missing -= holdings[best]
    return tuple(sorted(chosen))


def _held(metadata: Mapping[str, Any], cell: Collection[str]) -> dict[str, Any]:
    tile = tuple((name, value) for name, value in metadata.items() if name not in cell)
    return {"": tile, **{name: value for name, value in metadata.items() if name in cell}}


def _field(item: tuple[str, Any]) -> str:
    return item[0]
