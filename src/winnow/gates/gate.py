"""What a gate is: a name, what it needs to look at, and a check over one inspection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Verdict

LAST = 1000
"""The place of a gate that states none."""


@dataclass(frozen=True)
class Gate:
    """One gate. Registered in the entry-point group `winnow.gates`, by itself or in an iterable.

    `needs` are names of `needs.NEEDS`: where one of them is not there, the gate is incomplete without being asked.
    `order` is its place in the flow; gates of one place go by their names. `check` gives the verdict; it may raise
    InputError (an artefact cannot be used), Refused (its first finding) or Incomplete.

    Raises:
        TypeError: a value that is not of its field's type, so that a package with such a gate does not load.
    """

    name: str
    needs: tuple[str, ...]
    check: Callable[[Inspection], Verdict]
    order: int = LAST

    def __post_init__(self) -> None:
        for key, expected, fits in (
            ("name", "a text", isinstance(self.name, str) and bool(self.name)),
            (
                "needs",
                "a tuple of texts",
                isinstance(self.needs, tuple) and all(isinstance(n, str) for n in self.needs),
            ),
            ("check", "a function", callable(self.check)),
            ("order", "an int", type(self.order) is int),
        ):
            if not fits:
                raise TypeError(f"{key} of a gate is {expected} (value: {getattr(self, key)!r})")
