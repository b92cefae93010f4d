"""A directory's files as they were when somebody first asked: each is read once, however many ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from winnow.files.reading import read_raw


class Folder(Mapping[str, bytes]):
    """The bytes of every file below `root`, by its name relative to it, sorted by path; empty where there is none.

    Names are listed when they are first needed, and a file is read when it is: one that cannot be read is an
    InputError for whoever needs it, and for nobody else.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, bytes] = {}

    @cached_property
    def _paths(self) -> Mapping[str, Path]:
        found = sorted(path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path for path in found}

    def __getitem__(self, name: str) -> bytes:
        if name not in self._read:
            self._read[name] = read_raw(self._paths[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
