"""A loaded file as plain data that knows where each key of it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from winnow.errors import Place

Key = str | int
Path_ = tuple[Key, ...]


@dataclass(frozen=True)
class Document:
    """A loaded file: plain data, and where each key path of it stands (line numbers from 1)."""

    file: str
    data: Any
    lines: Mapping[Path_, int]

    def place(self, *path: Key) -> Place:
        """The place of a key path; where the path itself is not in the file, of its nearest parent."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        return Place(self.file, self.lines.get(known), key_text(path))


def key_text(path: Iterable[Key]) -> str:
    """`("a", 0, "b")` as `a[0].b`."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text
