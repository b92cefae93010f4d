"""Importers by name or by a file's suffix, from the entry-point group `winnow.importers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from winnow import plugins
from winnow.errors import InputError, Place, nearest

GROUP = "winnow.importers"
Reads = Literal["space", "evidence"]
_FILES: Mapping[Reads, str] = {"space": "spaces", "evidence": "evidence"}
_WITHOUT_SUFFIX: Mapping[Reads, str] = {"space": "json"}
"""Importers of files whose names say nothing: a pipe, `/dev/stdin`."""


@dataclass(frozen=True)
class Importer:
    """Reads files of one form. `read` gives a `space_json.SpaceDefinition` or an `evidence.Evidence`, and raises
    InputError with file, line and key. Registered in the entry-point group `winnow.importers`.
    """

    name: str
    reads: Reads
    suffixes: tuple[str, ...]
    read: Callable[[Path], Any]

    def __post_init__(self) -> None:
        if not isinstance(self.suffixes, tuple) or not callable(self.read):
            raise TypeError("suffixes of an importer are a tuple of texts, and read is a function")


def find_importer(reads: Reads, path: Path, name: str | None = None) -> Importer:
    """The importer that `name` says, else the one for the file's suffix; a space without a suffix is Winnow's JSON.

    Raises:
        InputError: nobody offers one, it reads something else, or it cannot be loaded.
    """
    if name is not None:
        found: Importer = plugins.load(GROUP, name, Importer)
        if found.reads != reads:
            raise InputError(f'the importer "{name}" reads {_FILES[found.reads]}, not {_FILES[reads]}')
        return found
    known: list[Importer] = []
    broken: list[str] = []
    for one in plugins.installed(GROUP):
        try:
            known.append(plugins.load(GROUP, one, Importer))
        except InputError as error:
            broken.append(error.message)
    for importer in known:
        if importer.reads == reads and path.name.endswith(importer.suffixes):
            return importer
    if not path.suffix and reads in _WITHOUT_SUFFIX:
        return find_importer(reads, path, _WITHOUT_SUFFIX[reads])
    suffixes = [suffix for importer in known if importer.reads == reads for suffix in importer.suffixes]
    raise InputError(
        f"no importer reads {_FILES[reads]} from a file of this name",
        place=Place(str(path)),
        cure="; ".join([f"name one with --format; {nearest(path.suffix, suffixes)}", *broken]),
    )
