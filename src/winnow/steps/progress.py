"""How long steps say how far they are: to a callable that the caller passes in."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told that `done` of `total` units are ready; `left` is what the rest takes in seconds, where that is known."""

    def __call__(self, done: int, total: int, note: str = "", left: float | None = None) -> None: ...


def silent(done: int, total: int, note: str = "", left: float | None = None) -> None:
    """Progress that nobody watches."""
