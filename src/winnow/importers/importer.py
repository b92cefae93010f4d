"""Importers by name or by a file's suffix, from the entry-point group `winnow.importers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from winnow import plugins
from winnow.errors import InputError, Place, WinnowError, nearest

GROUP = "winnow.importers"
Reads = Literal["space", "evidence"]
_FILES: Mapping[Reads, str] = {"space": "spaces", "evidence": "evidence"}
_WITHOUT_SUFFIX: Mapping[Reads, str] = {"space": "json"}
"""Importers of files whose names say nothing: a pipe, `/dev/stdin`."""

T = TypeVar("T")


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
        for key, expected, fits in (
            ("name", "a text", isinstance(self.name, str)),
            ("reads", f"one of {', '.join(get_args(Reads))}", self.reads in get_args(Reads)),
            (
                "suffixes",
                "a tuple of texts",
                isinstance(self.suffixes, tuple) and all(isinstance(suffix, str) for suffix in self.suffixes),
            ),
            ("read", "a function", callable(self.read)),
        ):
            if not fits:
                raise TypeError(f"{key} of an importer is {expected} (value: {getattr(self, key)!r})")


def read_imported(reads: Reads, path: Path, name: str | None, kind: type[T]) -> T:
    """What the importer for a file, or the one that `name` says, makes of it: a value of the type `kind`.

    Raises:
        InputError: as `find_importer` and the importer do; or the importer fails or gives something else.
    """
    importer = find_importer(reads, path, name)
    try:
        found = importer.read(path)
    except (WinnowError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise _fault(importer, path, f"raised {type(error).__name__}: {error}") from error
    if not isinstance(found, kind):
        raise _fault(importer, path, f"gave a value of type {type(found).__name__}, not {kind.__name__}")
    return found


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


def _fault(importer: Importer, path: Path, said: str) -> InputError:
    return InputError(
        f'the importer "{importer.name}" {said}',
        place=Place(str(path)),
        cure="correct the package that brings the importer",
    )
