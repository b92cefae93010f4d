"""Grid and block of a launch from its engine's launch surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from winnow.errors import Place
from winnow.families.adapter import Field
from winnow.spaces.rules.expression import Expression, parse

Grid = tuple[int, int, int]
Extents = tuple[str | int, str | int, str | int]


class Surface(Protocol):
    """Grid and block of a launch, each extent as an expression or a number."""

    @property
    def grid(self) -> Extents: ...

    @property
    def block(self) -> Extents: ...


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


def launcher_of(surface: Surface, place: Place) -> Launcher:
    """The launcher that a launch surface describes; `place` is where the surface stands.

    Raises:
        InputError: an extent is not an expression.
    """
    grid, block = (
        tuple(parse(str(text), names=None, place=place) for text in extents)
        for extents in (surface.grid, surface.block)
    )
    return Launcher((grid[0], grid[1], grid[2]), (block[0], block[1], block[2]))
