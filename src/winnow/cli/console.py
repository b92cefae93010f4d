"""How commands print: text for people, one JSON document for machines, progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, indent=2, allow_nan=False))


def table(rows: Iterable[Sequence[object]], *, indent: int = 2) -> str:
    """Rows of equal length as aligned columns; columns of numbers to the right."""
    listed = list(rows)
    columns = list(zip(*listed, strict=True))
    cells = [[_cell(value) for value in column] for column in columns]
    widths = [max(map(len, column)) for column in cells]
    right = [all(isinstance(value, (int, float)) for value in column) for column in columns]
    aligned = [
        [text.rjust(width) if to_right else text.ljust(width) for text in column]
        for column, width, to_right in zip(cells, widths, right, strict=True)
    ]
    return "\n".join(" " * indent + "  ".join(row).rstrip() for row in zip(*aligned, strict=True))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def seconds(value: float) -> str:
    """A duration for people."""
    return f"{value:.1f} s" if value < 90 else f"{int(value // 60)} min {int(value % 60):02d} s"


class Progress:
    """A line on stderr that is written over; nothing when stderr is not a terminal."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.started = time.monotonic()
        self.shown = 0.0
        self.live = sys.stderr.isatty()

    def __call__(self, done: int, total: int, note: str = "", left: float | None = None) -> None:
        """Show that `done` of `total` units are ready; `left` is what the rest takes in seconds, if it is known."""
        now = time.monotonic()
        if not self.live or (now - self.shown < 0.1 and done < total):
            return
        self.shown = now
        if left is None and done:
            left = (now - self.started) / done * (total - done)
        eta = "" if left is None else f", {seconds(left)} left"
        line = f"  {self.label} {done}/{total}{eta} {note}"
        print(f"\r\033[K{line[:110]}", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        """Take the line away."""
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
