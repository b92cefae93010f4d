"""What an engine descriptor carries for Winnow's own engine: its family, its matcher and its launch surface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from winnow.catalog.manifest import Comparison, LaunchSurface
from winnow.errors import InputError, Place, nearest
from winnow.families.adapter import FamilyAdapter, Field
from winnow.strict import Document, StrictModel, validate
from winnow.tuning.expression import Expression, parse

Grid = tuple[int, int, int]


class _Extension(StrictModel):
    family: str
    match: dict[str, Comparison]
    launch_surface: LaunchSurface


@dataclass(frozen=True)
class Matcher:
    """Which metadata field each problem field is compared with, and how."""

    rules: tuple[tuple[str, str, str], ...]
    """(problem field, operator, metadata field)"""

    def refusal(self, metadata: Mapping[str, Any], fields: Mapping[str, Field]) -> str | None:
        """Why a kernel with this metadata does not serve a problem with these fields, or None when it does."""
        return next(self.misses(metadata, fields), None)

    def misses(self, metadata: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[str]:
        """Every comparison that fails between a kernel with this metadata and a problem with these fields."""
        for field, operator, other in self.rules:
            if operator == "any":
                continue
            if field not in fields:
                yield f"the graph says no {field}"
                continue
            asked, offered = fields[field], metadata[other]
            if not _COMPARE[operator](asked, offered):
                yield f"{field}={asked} is not {_WORDS[operator]} {other}={offered}"


_COMPARE = {
    "equal": lambda asked, offered: asked == offered,
    "multiple_of": lambda asked, offered: offered > 0 and asked % offered == 0,
    "at_most": lambda asked, offered: asked <= offered,
}
_WORDS = {"equal": "equal to", "multiple_of": "a multiple of", "at_most": "at most"}


@dataclass(frozen=True)
class Launcher:
    """Grid and block of a launch, computed from the problem's fields and the kernel's metadata alone."""

    grid_of: tuple[Expression, Expression, Expression]
    block_of: tuple[Expression, Expression, Expression]

    def grid(self, metadata: Mapping[str, Any], fields: Mapping[str, Field]) -> Grid:
        """The launch grid. Every extent is a positive integer."""
        return _extents(self.grid_of, metadata, fields)

    def block(self, metadata: Mapping[str, Any], fields: Mapping[str, Field]) -> Grid:
        """The threads of one block. Every extent is a positive integer."""
        return _extents(self.block_of, metadata, fields)

    @property
    def reads(self) -> tuple[str, ...]:
        """Every name that an extent is computed from."""
        return tuple(dict.fromkeys(name for e in (*self.grid_of, *self.block_of) for name in e.reads))


def _extents(
    expressions: tuple[Expression, Expression, Expression], metadata: Mapping[str, Any], fields: Mapping[str, Field]
) -> Grid:
    values = {**metadata, **fields}
    x, y, z = (int(expression.evaluate(values)) for expression in expressions)
    return x, y, z


@dataclass(frozen=True)
class Behaviour:
    """How an engine reads graphs, matches and launches."""

    adapter: FamilyAdapter
    matcher: Matcher
    launcher: Launcher


def behaviour(extension: Mapping[str, Any] | None, file: str) -> Behaviour:
    """The behaviour that an engine descriptor's `x-winnow` states.

    Raises:
        InputError: there is none, it is malformed, or its family is not installed.
    """
    if extension is None:
        raise InputError('no "x-winnow" key: this engine needs its native matchers', place=Place(file))
    document = Document(file, {"x-winnow": extension}, {})
    stated = validate(_Extension, document, "x-winnow")
    rules = tuple((field, rule.operator, rule.against(field)) for field, rule in stated.match.items())
    place = Place(file, key="x-winnow.launch_surface")
    launcher = launcher_of(stated.launch_surface, place)
    return Behaviour(find_family(stated.family, Place(file, key="x-winnow.family")), Matcher(rules), launcher)


def launcher_of(surface: LaunchSurface, place: Place) -> Launcher:
    """The launcher that a launch surface describes; `place` is where the surface stands.

    Raises:
        InputError: an extent is not an expression.
    """
    grid, block = (
        tuple(parse(str(text), names=None, place=place) for text in extents)
        for extents in (surface.grid, surface.block)
    )
    return Launcher((grid[0], grid[1], grid[2]), (block[0], block[1], block[2]))


@cache
def installed_families() -> dict[str, Any]:
    """The entry points of the installed families by name."""
    return {entry.name: entry for entry in entry_points(group="winnow.families")}


def find_family(name: str, place: Place | None = None) -> FamilyAdapter:
    """The adapter of an installed family.

    Raises:
        InputError: no installed package offers it.
    """
    if name not in installed_families():
        raise InputError(
            f'no family "{name}" is installed',
            place=place,
            cure=nearest(name, installed_families()) + "; families are entry points of the group winnow.families",
        )
    adapter: FamilyAdapter = installed_families()[name].load()
    return adapter
