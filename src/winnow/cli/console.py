"""How commands print: text for people, one JSON document for machines, progress on stderr."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Protocol

_EVERY_S = 10.0
"""Seconds between two lines of progress where no bar can be drawn."""


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, indent=2, allow_nan=False))


def table(rows: Iterable[Sequence[object]], *, indent: int = 2, width: int | None = None) -> str:
    """Rows of equal length as aligned columns; columns of numbers to the right.

    A table wider than `width` characters has its longest cells wrapped. By default that is the terminal's width; a
    pipe or a file gets one line a row, however long.
    """
    listed = list(rows)
    columns = list(zip(*listed, strict=True))
    cells = [[_cell(value) for value in column] for column in columns]
    widths = [max(map(len, column)) for column in cells]
    right = [all(isinstance(value, (int, float)) for value in column) for column in columns]
    if width is None and sys.stdout is not None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    if width is not None and indent + sum(widths) + 2 * (len(widths) - 1) > width:
        return _wrapped(list(zip(*cells, strict=True)), right, indent, width)
    aligned = [
        [text.rjust(wide) if to_right else text.ljust(wide) for text in column]
        for column, wide, to_right in zip(cells, widths, right, strict=True)
    ]
    return "\n".join(" " * indent + "  ".join(row).rstrip() for row in zip(*aligned, strict=True))


def _wrapped(rows: Sequence[Sequence[str]], right: Sequence[bool], indent: int, width: int) -> str:
    import rich.console
    import rich.table
    import rich.text

    grid = rich.table.Table.grid(padding=(0, 2, 0, 0))
    for to_right in right:
        grid.add_column(justify="right" if to_right else "left", no_wrap=to_right, overflow="fold")
    for row in rows:
        grid.add_row(*(rich.text.Text(text) for text in row))
    page = io.StringIO()
    rich.console.Console(file=page, width=width - indent, color_system=None).print(grid)
    return "\n".join(" " * indent + line.rstrip() for line in page.getvalue().splitlines())


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


class _View(Protocol):
    def show(self, done: int, total: int, left: str, note: str) -> None: ...

    def close(self) -> None: ...


class _Bar:
    """A bar on stderr that goes away in the end; without colours where NO_COLOR is set."""

    def __init__(self, label: str) -> None:
        import rich.progress
        from rich.console import Console

        self._bar = rich.progress.Progress(
            rich.progress.TextColumn(label),
            rich.progress.BarColumn(bar_width=24),
            rich.progress.MofNCompleteColumn(),
            rich.progress.TextColumn("{task.fields[left]}"),
            rich.progress.TextColumn("{task.fields[note]}", style="dim", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(label, total=None, left="", note="")
        self._bar.start()

    def show(self, done: int, total: int, left: str, note: str) -> None:
        self._bar.update(self._task, completed=done, total=total, note=note, left=left)

    def close(self) -> None:
        self._bar.stop()


class _Lines:
    """A line on stderr at most every ten seconds, for logs; nothing for work that takes less."""

    def __init__(self, label: str, clock: Callable[[], float]) -> None:
        self._label, self._clock = label, clock
        self._said = clock()

    def show(self, done: int, total: int, left: str, note: str) -> None:
        now = self._clock()
        if now - self._said < _EVERY_S:
            return
        self._said = now
        parts = (f"{self._label}: {done:,} of {total:,}", left, note.strip())
        with contextlib.suppress(OSError):  # a log that is gone or full does not stop the work
            print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


class Progress:
    """How far a command is: a bar where stderr is a terminal, a line every ten seconds where it is not.

    `with Progress("pack") as progress:` takes the bar away in the end; `progress(done, total)` shows how far it is.
    """

    def __init__(self, label: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pace = Pace(clock())
        self._view: _View = _Bar(label) if _draws() else _Lines(label, clock)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()

    def __call__(self, done: int, total: int, note: str = "", left: float | None = None) -> None:
        """Show that `done` of `total` units are ready; `left` is what the rest takes in seconds, if it is known."""
        expected = self._pace.left(done, total, self._clock())
        left = expected if left is None else left
        self._view.show(done, total, "" if left is None else f"{seconds(left)} left", note)

    def finish(self) -> None:
        """Take the bar away."""
        self._view.close()


def _draws() -> bool:
    """Whether stderr is a terminal that can redraw a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
