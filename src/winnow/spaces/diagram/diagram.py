"""All valid points of a space as one shared decision diagram: count, marginals and ranks come from it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Level(NamedTuple):
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
    """The level of an axis that no automaton reads, or that is known to have no choice left."""
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

    @cached_property
    def only_choices(self) -> list[int]:
        """For every axis the choice of its roots with one choice; 0 for the others."""
        taken = [0] * len(self.levels)
        for root in self.roots:
            level = self.levels[root]
            if not level.children and level.total(0) == 1:
                taken[level.axis] = int(level.choices[level.starts[0]])
        return taken

    @cached_property
    def open_roots(self) -> list[tuple[int, int]]:
        """The other roots, the last one first, and the number of points below each."""
        totals = [(root, self.levels[root]) for root in reversed(self.roots)]
        return [(root, level.total(0)) for root, level in totals if level.children or level.total(0) != 1]

    @property
    def depth(self) -> int:
        """The most levels that one point passes on one branch."""
        depths = [1] * len(self.levels)
        for which in range(len(self.levels) - 1, -1, -1):
            depths[which] += max([depths[child] for child in self.levels[which].children], default=0)
        return max(depths, default=0)

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes in the order that ranks and lists follow."""
        return tuple([level.axis for level in self.levels])


def unrank(diagram: Diagram, rank: int) -> list[int]:
    """The choice of every axis at the point of this rank (0 to total - 1), the last axis of `axes` running fastest."""
    levels = diagram.levels
    taken = diagram.only_choices.copy()
    todo: list[tuple[int, int, int]] = []
    for root, total in diagram.open_roots:
        rank, inner = divmod(rank, total)
        todo.append((root, 0, inner))
    while todo:
        which, context, rank = todo.pop()
        axis, children, starts, ends, choices, below, upto = levels[which]
        if not children:
            taken[axis] = choices[starts[context] + rank]
            continue
        start = starts[context]
        rank += upto[start]
        edge = bisect_right(upto, rank, start, ends[context]) - 1
        rank -= upto[edge]
        taken[axis] = choices[edge]
        if len(children) == 1:
            todo.append((children[0], below[0][edge], rank))
            continue
        for k in range(len(children) - 1, -1, -1):
            met = below[k][edge]
            rank, inner = divmod(rank, levels[children[k]].total(met))
            todo.append((children[k], met, inner))
    return taken
