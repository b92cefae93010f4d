"""What a constrained space holds, as plain data: its size, its values, its overview."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from winnow.importers.importer import read_imported
from winnow.importers.space_json import SpaceDefinition
from winnow.spaces import TuningSpace

Answer = dict[str, Any]


def read_space(file: Path, *, form: str | None = None) -> SpaceDefinition:
    """The space that a file defines, read by the importer `form` or by the one for its suffix.

    Raises:
        InputError: nobody reads such a file, it is unusable, or its importer fails.
    """
    return read_imported("space", file, form, SpaceDefinition)


def size(space: TuningSpace) -> Answer:
    """How many valid points there are, and whether that is exact; an estimate has its 95 % interval."""
    found = space.size()
    if found.exact:
        return {"count": found.value, "exact": True}
    return {"estimate": found.value, "low": found.low, "high": found.high, "exact": False, "text": str(found)}


def instances(space: TuningSpace) -> list[Answer]:
    """For every parameter its values and the number of valid points that have each."""
    return [
        {"param": knob, "values": [{"value": value, "count": number} for value, number in counts.items()]}
        for knob, counts in space.marginals().items()
    ]


def overview(space: TuningSpace) -> Answer:
    """The size of the space before and after its rules."""
    return {"params": len(space.axes), "constraints": len(space.rules), "cartesian": space.cartesian, **size(space)}
