"""Lists the points of a diagram column by column, as whole columns repeat and join faster than points do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Any

from winnow.spaces.diagram.diagram import Diagram, Level, unrank

_CHUNK = 1 << 14
_REMEMBERED = 1 << 22
_DEEPEST = 200

Cells = Sequence[Sequence[Sequence[Any]]]
"""What each axis contributes to a point: for each of its columns the value at each choice."""
Part = tuple[int, int]
"""A level and a context of it."""
Columns = list[list[Any]]


def chunks(diagram: Diagram, cells: Cells) -> Iterator[Columns]:
    """Every valid point in order of rank, as columns of bounded length, in the order of the diagram's axes."""
    if not diagram.total or not diagram.roots:
        return
    if diagram.depth > _DEEPEST:
        yield from _one_by_one(diagram, cells)
    else:
        yield from _Lister(diagram.levels, cells).stream([(root, 0) for root in diagram.roots])


def _one_by_one(diagram: Diagram, cells: Cells) -> Iterator[Columns]:
    """For diagrams that are deeper than functions can be nested."""
    order = diagram.axes
    for rank in range(diagram.total):
        taken = unrank(diagram, rank)
        yield [[column[taken[axis]]] for axis in order for column in cells[axis]]


class _Lister:
    """Lists the points below contexts; remembers lists, up to a bound of values in all."""

    def __init__(self, levels: Sequence[Level], cells: Cells) -> None:
        self.levels = levels
        self.cells = cells
        self.known: dict[Part, tuple[int, Columns]] = {}
        self.room = _REMEMBERED

    def stream(self, parts: Sequence[Part]) -> Iterator[Columns]:
        """The points of the product of `parts`, the last running fastest."""
        first, rest = parts[0], parts[1:]
        if not rest:
            yield from self._stream_one(*first)
        elif self._total(rest) <= _CHUNK:
            many, tails = self._product(rest)
            group = max(1, _CHUNK // max(1, many))
            for heads in self._stream_one(*first):
                for low in range(0, len(heads[0]), group):
                    yield _crossed([column[low : low + group] for column in heads], many, tails)
        else:
            for heads in self._stream_one(*first):
                for head in zip(*heads, strict=True):
                    for tails in self.stream(rest):
                        yield [*([value] * len(tails[0]) for value in head), *tails]

    def _total(self, parts: Sequence[Part]) -> int:
        return math.prod([self.levels[which].total(context) for which, context in parts])

    def _stream_one(self, which: int, context: int) -> Iterator[Columns]:
        level = self.levels[which]
        if level.total(context) <= _CHUNK:
            yield self._columns(which, context)[1]
        elif level.children:
            yield from self._stream_edges(level, context)
        else:
            for low in range(level.starts[context], level.ends[context], _CHUNK):
                taken = level.choices[low : min(low + _CHUNK, level.ends[context])]
                yield [[column[choice] for choice in taken] for column in self.cells[level.axis]]

    def _stream_edges(self, level: Level, context: int) -> Iterator[Columns]:
        """The points below a large context: small edges are put together, large ones come in pieces."""
        own, joined = self.cells[level.axis], list[list[Any]]()
        for choice, parts, total in self._edges(level, context):
            if total <= _CHUNK:
                many, columns = self._product(parts)
                joined = _extended(joined, [[column[choice]] * many for column in own] + columns)
                if len(joined[0]) < _CHUNK:
                    continue
            if joined:
                yield joined
                joined = []
            if total > _CHUNK:
                for tails in self.stream(parts):
                    yield [*([column[choice]] * len(tails[0]) for column in own), *tails]
        if joined:
            yield joined

    def _edges(self, level: Level, context: int) -> Iterator[tuple[int, list[Part], int]]:
        """The choices of a context that lead somewhere: with the contexts of the children, and the points below."""
        for edge in range(level.starts[context], level.ends[context]):
            total = int(level.upto[edge + 1]) - int(level.upto[edge])
            if total:
                parts = [(child, int(met[edge])) for child, met in zip(level.children, level.below, strict=True)]
                yield level.choices[edge], parts, total

    def _product(self, parts: Sequence[Part]) -> tuple[int, Columns]:
        many, columns = self._columns(*parts[-1])
        for part in parts[-2::-1]:
            heads = self._columns(*part)
            columns = _crossed(heads[1], many, columns)
            many *= heads[0]
        return many, columns

    def _columns(self, which: int, context: int) -> tuple[int, Columns]:
        """How many points there are below a context, and their columns. They are shared: nobody may change them."""
        found = self.known.get((which, context))
        if found is not None:
            return found
        level = self.levels[which]
        own = self.cells[level.axis]
        columns: Columns = []
        if level.children:
            for choice, parts, _ in self._edges(level, context):
                many, below = self._product(parts)
                columns = _extended(columns, [[column[choice]] * many for column in own] + below)
        else:
            taken = level.choices[level.starts[context] : level.ends[context]]
            columns = [[column[choice] for choice in taken] for column in own]
        found = level.total(context), columns
        if self.room > 0:
            self.room -= found[0] * len(columns)
            self.known[which, context] = found
        return found


def _crossed(heads: Columns, many: int, tails: Columns) -> Columns:
    """The product of two lists of points, the second of which has `many`."""
    often = len(heads[0])
    spread = heads if many == 1 else [_each_repeated(column, many) for column in heads]
    return [*spread, *(tails if often == 1 else [column * often for column in tails])]


def _each_repeated(column: list[Any], times: int) -> list[Any]:
    """`[a, b]` as `[a, a, b, b]`, by whichever of the two dimensions is the shorter loop."""
    if times > len(column):
        return list(chain.from_iterable(map(repeat, column, repeat(times))))
    spread: list[Any] = [None] * (len(column) * times)
    for start in range(times):
        spread[start::times] = column
    return spread


def _extended(columns: Columns, more: Columns) -> Columns:
    """`columns`, which are the caller's own, with `more` added below."""
    if not columns:
        return [list(column) for column in more]
    for column, added in zip(columns, more, strict=True):
        column += added
    return columns
