"""What differs between two catalogs, selections or packed trees."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from winnow.descriptors.diff import Difference, difference
from winnow.engine_dir import EngineDir
from winnow.steps.side import fill_defaults, read_side


def diff_sides(
    a: Path, b: Path, *, by: Literal["name", "metadata"] = "name", defaults_of: EngineDir | None = None
) -> Difference:
    """From the kernels of `a` to those of `b`; `by` says what makes two kernels the same one first.

    With `defaults_of`, specs are compared with the defaults of their classes filled in, which the modules of that
    engine's manifest say.

    Raises:
        InputError: nothing is there, it is not a selection, a catalog or a packed tree, or it is malformed.
    """
    ours, theirs = read_side(a), read_side(b)
    if defaults_of is not None:
        allowed = defaults_of.manifest.manifest.allowed_modules
        ours, theirs = fill_defaults(ours, allowed, str(a)), fill_defaults(theirs, allowed, str(b))
    return difference(ours, theirs, by)
