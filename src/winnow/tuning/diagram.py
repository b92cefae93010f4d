"""All valid points of a space as one shared decision diagram: from it come count, marginals, ranks and lists."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_CHUNK = 1 << 14
_REMEMBERED = 1 << 20

Point = tuple[Any, ...]
Cells = Sequence[Sequence[Point]]


@dataclass(frozen=True)
class Level:
    """One axis in all the contexts in which it is met. Context `c` has the edges from `starts[c]` up to `ends[c]`.

    Edge by edge, `choices` is the choice that it takes, `below[k]` the context in which it meets the child
    `children[k]`, `upto` the points that open from the edges before it. Contexts of a level without children may
    share edges.
    """

    axis: int
    children: tuple[int, ...]
    starts: Sequence[int]
    ends: Sequence[int]
    choices: Sequence[int]
    below: tuple[Sequence[int], ...]
    upto: Sequence[int]

    def total(self, context: int) -> int:
        """The number of points below this context."""
        return int(self.upto[self.ends[context]]) - int(self.upto[self.starts[context]])


def free(axis: int, choices: Sequence[int]) -> Level:
    """The level of an axis that no relation reads, or that is known to have no choice left."""
    return Level(axis, (), (0,), (len(choices),), choices, (), range(len(choices) + 1))


@dataclass(frozen=True)
class Diagram:
    """`roots` are levels that are independent of each other, met in one context each; parents come before children.

    A `void` diagram has no point, whatever its levels are.
    """

    levels: tuple[Level, ...]
    roots: tuple[int, ...]
    void: bool = False

    @cached_property
    def total(self) -> int:
        """The number of valid points."""
        return 0 if self.void else math.prod([self.levels[root].total(0) for root in self.roots])

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes in the order that ranks and lists follow."""
        return tuple([level.axis for level in self.levels])


def marginals(diagram: Diagram, sizes: Sequence[int]) -> list[list[int]]:
    """For every axis and choice the number of valid points that take it."""
    counts = [[0] * size for size in sizes]
    levels = diagram.levels
    if not diagram.total:
        return counts
    if not all(isinstance(level.starts, list | tuple) for level in levels):
        from winnow.tuning.bulk import marginals_in_bulk  # the diagram was made with arrays

        return marginals_in_bulk(diagram, sizes)
    around: list[dict[int, int]] = [{} for _ in levels]
    for root in diagram.roots:
        around[root][0] = diagram.total // levels[root].total(0)
    for which, level in enumerate(levels):
        for context, outside in around[which].items():
            _spread(levels, level, context, outside, counts[level.axis], around)
    return counts


def _spread(
    levels: Sequence[Level],
    level: Level,
    context: int,
    outside: int,
    counts: list[int],
    around: list[dict[int, int]],
) -> None:
    """Share what is around a context among its edges, and pass each child what is then around it."""
    for edge in range(level.starts[context], level.ends[context]):
        weight = outside * (int(level.upto[edge + 1]) - int(level.upto[edge]))
        if weight:
            counts[level.choices[edge]] += weight
            for child, contexts in zip(level.children, level.below, strict=True):
                met, known = int(contexts[edge]), around[child]
                known[met] = known.get(met, 0) + weight // levels[child].total(met)


def unrank(diagram: Diagram, rank: int) -> list[int]:
    """The choice of every axis at the point of this rank (0 to total - 1), the last axis of `axes` running fastest."""
    levels = diagram.levels
    taken = [0] * len(levels)
    todo: list[tuple[int, int, int]] = []
    for root in reversed(diagram.roots):
        rank, inner = divmod(rank, levels[root].total(0))
        todo.append((root, 0, inner))
    while todo:
        which, context, rank = todo.pop()
        level = levels[which]
        start = level.starts[context]
        children = level.children
        if not children:
            taken[level.axis] = level.choices[start + rank]
            continue
        upto = level.upto
        rank += int(upto[start])
        edge = bisect_right(upto, rank, start, level.ends[context]) - 1
        rank -= int(upto[edge])
        taken[level.axis] = level.choices[edge]
        if len(children) == 1:
            todo.append((children[0], int(level.below[0][edge]), rank))
            continue
        for k in range(len(children) - 1, -1, -1):
            met = int(level.below[k][edge])
            rank, inner = divmod(rank, levels[children[k]].total(met))
            todo.append((children[k], met, inner))
    return taken


def chunks(diagram: Diagram, cells: Cells) -> Iterator[list[Point]]:
    """Every valid point in order of rank, in lists; `cells[axis][choice]` is what the axis contributes to a point.

    The contributions come in the order of `axes`. The lists of contexts that many points share are made once.
    """
    if diagram.total and not diagram.roots:
        yield [()]
    elif diagram.total:
        yield from _Lister(diagram.levels, cells).stream([(root, 0) for root in diagram.roots])


class _Lister:
    """Lists the points below (level, context) pairs; remembers lists, up to a bound of points in all."""

    def __init__(self, levels: Sequence[Level], cells: Cells) -> None:
        self.levels = levels
        self.cells = cells
        self.known: dict[tuple[int, int], list[Point]] = {}
        self.room = _REMEMBERED

    def total(self, parts: Sequence[tuple[int, int]]) -> int:
        return math.prod([self.levels[which].total(context) for which, context in parts])

    def stream(self, parts: Sequence[tuple[int, int]]) -> Iterator[list[Point]]:
        """The points of the product of `parts`, the last running fastest, in lists of bounded length."""
        first, rest = parts[0], parts[1:]
        if not rest:
            yield from self._stream_one(*first)
        elif self.total(rest) <= _CHUNK:
            tails = self._product(rest)
            group = max(1, _CHUNK // max(1, len(tails)))
            for heads in self._stream_one(*first):
                for i in range(0, len(heads), group):
                    yield [head + tail for head in heads[i : i + group] for tail in tails]
        else:
            for heads in self._stream_one(*first):
                for head in heads:
                    for tails in self.stream(rest):
                        yield [head + tail for tail in tails]

    def _stream_one(self, which: int, context: int) -> Iterator[list[Point]]:
        level = self.levels[which]
        own, total = self.cells[level.axis], level.total(context)
        if total <= _CHUNK:
            yield self._list(which, context)
        elif level.children:
            for choice, parts in self._edges(level, context):
                head = own[choice]
                for tails in self.stream(parts):
                    yield [head + tail for tail in tails]
        else:
            start = level.starts[context]
            for at in range(start, start + total, _CHUNK):
                yield [own[choice] for choice in level.choices[at : min(at + _CHUNK, start + total)]]

    def _edges(self, level: Level, context: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """The choices of a context that lead somewhere, each with the contexts of the children."""
        for edge in range(level.starts[context], level.ends[context]):
            if level.upto[edge] != level.upto[edge + 1]:
                parts = [(child, int(met[edge])) for child, met in zip(level.children, level.below, strict=True)]
                yield level.choices[edge], parts

    def _product(self, parts: Sequence[tuple[int, int]]) -> list[Point]:
        points = self._list(*parts[0])
        for part in parts[1:]:
            tails = self._list(*part)
            points = [head + tail for head in points for tail in tails]
        return points

    def _list(self, which: int, context: int) -> list[Point]:
        points = self.known.get((which, context))
        if points is not None:
            return points
        level = self.levels[which]
        own = self.cells[level.axis]
        if level.children:
            points = []
            for choice, parts in self._edges(level, context):
                head = own[choice]
                points += [head + tail for tail in self._product(parts)]
        else:
            points = [own[choice] for choice in level.choices[level.starts[context] : level.ends[context]]]
        if self.room > 0:
            self.room -= len(points)
            self.known[which, context] = points
        return points
