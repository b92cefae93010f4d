"""How commands print: text for people, one JSON document for machines, progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

import rich.progress
from rich.console import Console


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


class Pace:
    """How long the rest of a stage takes, by what it took so far. A count that falls begins another stage."""

    def __init__(self, now: float) -> None:
        self._began = self._seen = now
        self._done = 0

    def left(self, done: int, total: int, now: float) -> float | None:
        """Seconds; None before anything is done."""
        if done < self._done:
            self._began = self._seen
        self._done, self._seen = done, now
        return (now - self._began) / done * (total - done) if done else None


class Progress:
    """A bar on stderr that goes away in the end; nothing when stderr is not a terminal."""

    def __init__(self, label: str) -> None:
        self.bar = rich.progress.Progress(
            rich.progress.TextColumn(label),
            rich.progress.BarColumn(bar_width=24),
            rich.progress.MofNCompleteColumn(),
            rich.progress.TextColumn("{task.fields[left]}"),
            rich.progress.TextColumn("{task.fields[note]}", style="dim"),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task(label, total=None, left="", note="")
        self.pace = Pace(time.monotonic())
        self.bar.start()

    def __call__(self, done: int, total: int, note: str = "", left: float | None = None) -> None:
        """Show that `done` of `total` units are ready; `left` is what the rest takes in seconds, if it is known."""
        expected = self.pace.left(done, total, time.monotonic())
        left = expected if left is None else left
        eta = "" if left is None else f"{seconds(left)} left"
        self.bar.update(self.task, completed=done, total=total, note=note, left=eta)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()

    def finish(self) -> None:
        """Take the bar away."""
        self.bar.stop()
