"""What an engine descriptor carries for Winnow's own engine: its family, its matcher and its launch surface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from winnow.errors import InputError, Place
from winnow.families.adapter import FamilyAdapter
from winnow.families.find import find_family
from winnow.operators import comparison
from winnow.runtime.launcher import Extents, Launcher, launcher_of
from winnow.runtime.matching import Matcher
from winnow.strict.document import Document
from winnow.strict.record import Record, record_of

_KEY = "x-winnow"


@dataclass(frozen=True)
class Behaviour:
    """How an engine reads graphs, matches and launches."""

    adapter: FamilyAdapter
    matcher: Matcher
    launcher: Launcher


@dataclass(frozen=True)
class _Surface:
    """Grid and block of a launch, each extent as an expression or a number."""

    grid: Extents
    block: Extents


def behaviour(extension: Mapping[str, Any] | None, file: str) -> Behaviour:
    """The behaviour that an engine descriptor's `x-winnow` states.

    Raises:
        InputError: there is none, it is malformed, or its family is not installed.
    """
    if extension is None:
        raise InputError('no "x-winnow" key: this engine needs its native matchers', place=Place(file))
    stated = record_of(Document(file, {_KEY: extension}, {}), _KEY).only(("family", "match", "launch_surface"))
    family = stated.text("family")
    rules = tuple(_rules(stated.record("match")))
    surface = stated.record("launch_surface").only(("grid", "block"))
    block = _extents(surface, "block") if "block" in surface.data else (1, 1, 1)
    launcher = launcher_of(_Surface(_extents(surface, "grid"), block), Place(file, key=f"{_KEY}.launch_surface"))
    return Behaviour(find_family(family, Place(file, key=f"{_KEY}.family")), Matcher(rules), launcher)


def _rules(match: Record) -> Iterator[tuple[str, str, str]]:
    for field, spelled in match.data.items():
        try:
            operator, other = comparison(spelled)
        except ValueError as error:
            raise match.problem(f"{error} (value: {spelled!r})", field) from None
        yield field, operator, other or field


def _extents(surface: Record, key: str) -> Extents:
    items = surface.items(key)
    if len(items) != 3 or any(type(item) not in (int, str) for item in items):
        raise surface.unfit(items, "three expressions or integers", key)
    x, y, z = items
    return x, y, z
