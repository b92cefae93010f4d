"""Doors: entry points by group and name, the one place that looks them up and loads them.

A plugin that cannot be loaded costs itself: it is named, with its package and its error, where it is needed.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from winnow.errors import InputError, Place, WinnowError, nearest

GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "winnow.nodes": "node kind",
        "winnow.families": "family",
        "winnow.compilers": "compiler",
        "winnow.devices": "device runtime",
        "winnow.targets": "table of targets",
        "winnow.gates": "gate",
        "winnow.executors": "executor",
        "winnow.importers": "importer",
    }
)
"""What each group of entry points holds."""

T = TypeVar("T")


@dataclass(frozen=True)
class Plugin:
    """One entry point. `state` is `ok`, or why it cannot be used."""

    group: str
    name: str
    package: str
    version: str
    state: str


def installed(group: str) -> tuple[str, ...]:
    """The names that a group's entry points have, sorted; nothing is imported."""
    return tuple(sorted(_entries(group, tuple(sys.path))))


def load(group: str, name: str, kind: type[T] | tuple[type, ...] | None = None, place: Place | None = None) -> Any:
    """What the entry point of this name offers: an object of the type `kind`, where one is given.

    Raises:
        InputError: nobody offers it, two packages do, or what they offer cannot be loaded or is of another type.
    """
    known, what = _entries(group, tuple(sys.path)), GROUPS[group]
    if name not in known:
        article = "an" if what[0] in "aeiou" else "a"
        raise InputError(
            f'no {what} "{name}" is installed',
            place=place,
            cure=f"{nearest(name, known)}; {article} {what} is an entry point of the group {group}",
        )
    entries = known[name]
    if len(entries) > 1:
        packages = " and ".join(_package(entry) for entry in entries)
        raise InputError(f'the {what} "{name}" is offered by {packages}', place=place, cure="uninstall one of them")
    problem, offered = _loaded(entries[0], kind)
    if problem is not None:
        raise unusable(group, name, problem, place)
    return offered


def unusable(group: str, name: str, problem: str, place: Place | None = None) -> InputError:
    """The error for an installed entry point that offers what its group cannot use; names its package."""
    packages = " and ".join(_package(entry) for entry in _entries(group, tuple(sys.path)).get(name, ()))
    return InputError(
        f'the {GROUPS[group]} "{name}" of the package {packages or "unknown"} cannot be used: {problem}',
        place=place,
        cure="mend the package, install what it needs, or uninstall it",
    )


def plugins(check: Callable[[str, str, Any], None]) -> list[Plugin]:
    """Every entry point of every group, loaded to see whether it can be.

    `check(group, name, offered)` raises where what an entry point offers is not what its group asks for.
    """
    found: list[Plugin] = []
    for group in GROUPS:
        for name, entries in sorted(_entries(group, tuple(sys.path)).items()):
            for entry in entries:
                problem, offered = _loaded(entry, None)
                problem = problem or _problem(check, group, name, offered)
                if problem is None and len(entries) > 1:
                    problem = "another package offers this name"
                found.append(Plugin(group, name, _package(entry), _version(entry), problem or "ok"))
    return found


def _problem(check: Callable[[str, str, Any], None], group: str, name: str, offered: Any) -> str | None:
    try:
        check(group, name, offered)
    except WinnowError as error:
        return error.message
    except (Exception, SystemExit) as error:  # noqa: BLE001 - looking at what a plugin offers runs its code
        return str(error) if isinstance(error, TypeError) else f"{type(error).__name__}: {error}"
    return None


class OpenTable(Mapping[str, T], Generic[T]):
    """Rows that the entry points of one group offer, by name; read when the first row is asked for.

    `rows_of` gives the (name, row) pairs of what an entry point offers, and raises TypeError where that is something
    else. What a broken plugin would have offered is missing, and `missing` says so. A name in `reserved` is no
    package's to give.
    """

    def __init__(
        self,
        group: str,
        rows_of: Callable[[Any], Iterable[tuple[str, T]]],
        reserved: Callable[[], Container[str]] = tuple,
    ) -> None:
        self._group, self._rows_of, self._reserved = group, rows_of, reserved
        self._rows: dict[str, T] | None = None
        self._broken: dict[str, tuple[str, str]] = {}

    def problem(self, entry: str) -> str | None:
        """Why the rows of the entry point of this name are not in the table; None where they are."""
        self._all()
        return self._broken[entry][1] if entry in self._broken else None

    def missing(self, name: str) -> str:
        """The cure for a name that is not in the table: the nearest one, and the plugins that could not be loaded."""
        known = nearest(name, self)
        what = GROUPS[self._group]
        broken = (
            f'the {what} "{entry}" of the package {package} cannot be used: {problem}'
            for entry, (package, problem) in self._broken.items()
        )
        return "; ".join([known, *broken])

    def _all(self) -> Mapping[str, T]:
        if self._rows is None:
            # Set first: a plugin may look up a built-in row while it is imported.
            rows = self._rows = {}
            entries = _entries(self._group, tuple(sys.path))
            for name in sorted(entries, key=lambda name: (name != "builtin", name)):
                for entry in entries[name]:
                    self._add(rows, entry)
        return self._rows

    def _add(self, rows: dict[str, T], entry: metadata.EntryPoint) -> None:
        problem, offered = _loaded(entry, None)
        try:
            new = [] if problem is not None else list(self._rows_of(offered))
            reserved = self._reserved()
            taken = [name for name, _ in new if name in rows or name in reserved]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - listing what a plugin offers runs its code
            said = str(error) if isinstance(error, TypeError) else f"{type(error).__name__}: {error}"
            problem, new, taken = said, [], []
        if taken:
            problem, new = f'"{taken[0]}" is known already', []
        if problem is not None:
            self._broken[entry.name] = _package(entry), problem
        rows.update(new)

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


@cache
def _entries(group: str, path: tuple[str, ...]) -> Mapping[str, tuple[metadata.EntryPoint, ...]]:
    """The entry points of a group by name. They are looked up once for each search path of this process."""
    found: dict[str, tuple[metadata.EntryPoint, ...]] = {}
    for entry in metadata.entry_points(group=group):
        others = found.get(entry.name, ())
        # An editable installation may be on the path twice.
        if all((entry.value, _package(entry)) != (other.value, _package(other)) for other in others):
            found[entry.name] = (*others, entry)
    return MappingProxyType(found)


def _loaded(entry: metadata.EntryPoint, kind: type | tuple[type, ...] | None) -> tuple[str | None, Any]:
    """(what is wrong, what the entry point offers)."""
    try:
        # What a package prints while it is imported is not part of any command's output.
        with contextlib.redirect_stdout(sys.stderr):
            offered = entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin's failure to import, whatever it is, is its own
        return f"{entry.value} raised {type(error).__name__}: {error}", None
    if kind is not None and not isinstance(offered, kind):
        return f"{entry.value} is of type {type(offered).__name__}", None
    return None, offered


def _package(entry: metadata.EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "unknown"


def _version(entry: metadata.EntryPoint) -> str:
    return entry.dist.version if entry.dist is not None else ""
