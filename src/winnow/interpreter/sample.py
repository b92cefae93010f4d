"""A few kernels that stand for many: together they have every value that any kernel has in any field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def covering(records: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Places of records that hold every (field, value) of all, in order; each time the one with most new ones is taken.

    Ties go to the earlier record, so that the sample is the same everywhere.
    """
    holdings = [set(record.items()) for record in records]
    missing = set().union(*holdings)
    chosen: list[int] = []
    while missing:
        best = max(range(len(records)), key=lambda i: (len(holdings[i] & missing), -i))
        chosen.append(best)
        missing -= holdings[best]
    return tuple(sorted(chosen))
