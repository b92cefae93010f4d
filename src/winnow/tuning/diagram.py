"""All valid points of a space as one shared decision diagram: from it come count, marginals, ranks and lists."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, repeat
from operator import itemgetter
from typing import Any

from winnow.tuning.order import Step
from winnow.tuning.relation import NO, Relation, Row

_CHUNK = 1 << 14
_REMEMBERED = 1 << 20

States = tuple[int, ...]
Point = tuple[Any, ...]
Cells = Sequence[Sequence[Point]]


class Branch:
    """What may follow at one axis in one context: the choices left, how many points each opens, and where it leads.

    `upto[i]` counts the points of the first i + 1 choices; `below[i]` has one branch for each child of the axis.
    A branch without children has no `below`.
    """

    __slots__ = ("axis", "below", "choices", "total", "upto")

    def __init__(self, axis: int, choices: Sequence[int] = ()) -> None:
        self.axis = axis
        self.choices = choices
        self.upto: Sequence[int] = range(1, len(choices) + 1)
        self.below: list[tuple[Branch, ...]] = []
        self.total = len(choices)


@dataclass(frozen=True)
class Diagram:
    """`roots` are independent of each other; `levels` lists every branch, parents first; ranks follow `axes`."""

    axes: tuple[int, ...]
    roots: tuple[Branch, ...]
    levels: tuple[Sequence[Branch], ...]

    @property
    def total(self) -> int:
        """The number of valid points."""
        return math.prod(root.total for root in self.roots)


@dataclass
class _Node:
    """One step of the forest: the relations that it advances, and what each child must know of the past.

    `reads` has for each relation a place in the context and its layer, or -1 and the only row, where it starts here.
    """

    axis: int
    kept: Sequence[int]
    carried: tuple[int, ...]
    reads: list[tuple[int, Any]] = field(default_factory=list)
    advanced: list[int] = field(default_factory=list)
    children: list[tuple[_Node, Callable[[States], States]]] = field(default_factory=list)
    branches: dict[States, Branch] = field(default_factory=dict)


def build(kept: Sequence[Sequence[int]], steps: Sequence[Step], relations: Sequence[Relation]) -> Diagram:
    """The diagram of the choices that every relation holds for, out of those that are kept of each axis.

    Relations number the kept choices from 0. `steps` is a forest in which the scope of each relation lies on one
    path and is listed downward. Axes that no step names are free.
    """
    nodes = _wire(kept, steps, relations)
    roots = [node for node, step in zip(nodes, steps, strict=True) if step.parent < 0]
    for root in roots:
        root.branches[()] = Branch(root.axis)
    for node in nodes:
        _expand(node)
    for node in reversed(nodes):
        _total(node)
    placed = {step.axis for step in steps}
    free = [Branch(axis, choices) for axis, choices in enumerate(kept) if axis not in placed]
    return Diagram(
        (*(step.axis for step in steps), *(branch.axis for branch in free)),
        (*(root.branches[()] for root in roots), *free),
        (*(list(node.branches.values()) for node in nodes), free),
    )


def _wire(kept: Sequence[Sequence[int]], steps: Sequence[Step], relations: Sequence[Relation]) -> list[_Node]:
    position = {step.axis: i for i, step in enumerate(steps)}
    carried: list[list[int]] = [[] for _ in steps]
    for which, relation in enumerate(relations):
        at, start = position[relation.scope[-1]], position[relation.scope[0]]
        while at != start:
            carried[at].append(which)
            at = steps[at].parent
    nodes = [_Node(step.axis, kept[step.axis], tuple(past)) for step, past in zip(steps, carried, strict=True)]
    for which, relation in enumerate(relations):
        for depth, axis in enumerate(relation.scope):
            node, layer = nodes[position[axis]], relation.layers[depth]
            node.advanced.append(which)
            node.reads.append((node.carried.index(which), layer) if depth else (-1, layer[relation.root]))
    for node, step in zip(nodes, steps, strict=True):
        if step.parent >= 0:
            parent = nodes[step.parent]
            known = {which: i for i, which in enumerate((*parent.carried, *parent.advanced))}
            parent.children.append((node, _picker([known[which] for which in node.carried])))
    return nodes


def _picker(places: Sequence[int]) -> Callable[[States], States]:
    if not places:
        return lambda states: ()
    if len(places) == 1:
        only = places[0]
        return lambda states: (states[only],)
    return itemgetter(*places)


def _expand(node: _Node) -> None:
    """Follow every choice from every context that was reached, and note the contexts that the children get."""
    for context, branch in node.branches.items():
        rows: list[Row] = [row if place < 0 else row[context[place]] for place, row in node.reads]
        after = zip(*rows, strict=True) if rows else repeat((), len(node.kept))
        taken = [(choice, states) for choice, states in zip(node.kept, after, strict=True) if NO not in states]
        branch.choices = [choice for choice, _ in taken]
        if node.children:
            branch.below = [
                tuple([_branch(child, pick(context + states)) for child, pick in node.children]) for _, states in taken
            ]
        else:
            branch.total = len(taken)
            branch.upto = range(1, len(taken) + 1)


def _branch(node: _Node, context: States) -> Branch:
    branch = node.branches.get(context)
    if branch is None:
        branch = node.branches[context] = Branch(node.axis)
    return branch


def _total(node: _Node) -> None:
    """Count the points under every branch, and drop the choices that lead nowhere."""
    if not node.children:
        return
    for branch in node.branches.values():
        weights = [math.prod([child.total for child in children]) for children in branch.below]
        if 0 in weights:
            live = [i for i, weight in enumerate(weights) if weight]
            branch.choices = [branch.choices[i] for i in live]
            branch.below = [branch.below[i] for i in live]
            weights = [weights[i] for i in live]
        branch.upto = list(accumulate(weights))
        branch.total = branch.upto[-1] if weights else 0


def marginals(diagram: Diagram, sizes: Sequence[int]) -> list[list[int]]:
    """For every axis and choice the number of valid points that take it."""
    counts = [[0] * size for size in sizes]
    total = diagram.total
    if not total:
        return counts
    around: dict[Branch, int] = {root: total // root.total for root in diagram.roots}
    for level in diagram.levels:
        for branch in level:
            outside = around.get(branch, 0)
            if outside:
                _spread(branch, outside, counts[branch.axis], around)
    return counts


def _spread(branch: Branch, outside: int, counts: list[int], around: dict[Branch, int]) -> None:
    if not branch.below:
        for choice in branch.choices:
            counts[choice] += outside
        return
    before = 0
    for choice, upto, children in zip(branch.choices, branch.upto, branch.below, strict=True):
        weight = outside * (upto - before)
        before = upto
        counts[choice] += weight
        for child in children:
            around[child] = around.get(child, 0) + weight // child.total


def unrank(diagram: Diagram, rank: int) -> list[int]:
    """The choice of every axis at the point of this rank (0 to total - 1), the last axis of `axes` running fastest."""
    taken = [0] * len(diagram.axes)
    todo: list[tuple[Branch, int]] = []
    for root in reversed(diagram.roots):
        rank, inner = divmod(rank, root.total)
        todo.append((root, inner))
    while todo:
        branch, rank = todo.pop()
        upto = branch.upto
        if not branch.below:
            taken[branch.axis] = branch.choices[rank]
            continue
        i = bisect_right(upto, rank)
        if i:
            rank -= upto[i - 1]
        taken[branch.axis] = branch.choices[i]
        children = branch.below[i]
        if len(children) == 1:
            todo.append((children[0], rank))
            continue
        for child in reversed(children):
            rank, inner = divmod(rank, child.total)
            todo.append((child, inner))
    return taken


def chunks(diagram: Diagram, cells: Cells) -> Iterator[list[Point]]:
    """Every valid point in order of rank, in lists; `cells[axis][choice]` is what the axis contributes to a point.

    The contributions come in the order of `axes`. The lists of branches that many points share are made once.
    """
    if not diagram.roots:
        yield [()]
    elif diagram.total:
        yield from _Lister(cells).stream(diagram.roots)


class _Lister:
    """Lists the points below branches; remembers lists, up to a bound of points in all."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.known: dict[Branch, list[Point]] = {}
        self.room = _REMEMBERED

    def stream(self, branches: Sequence[Branch]) -> Iterator[list[Point]]:
        """The points of the product of `branches`, the last running fastest, in lists of bounded length."""
        first, rest = branches[0], branches[1:]
        if not rest:
            yield from self._stream_one(first)
        elif math.prod([branch.total for branch in rest]) <= _CHUNK:
            tails = self._product(rest)
            group = max(1, _CHUNK // len(tails))
            for heads in self._stream_one(first):
                for i in range(0, len(heads), group):
                    yield [head + tail for head in heads[i : i + group] for tail in tails]
        else:
            for heads in self._stream_one(first):
                for head in heads:
                    for tails in self.stream(rest):
                        yield [head + tail for tail in tails]

    def _stream_one(self, branch: Branch) -> Iterator[list[Point]]:
        own = self.cells[branch.axis]
        if branch.total <= _CHUNK:
            yield self._list(branch)
        elif branch.below:
            for choice, children in zip(branch.choices, branch.below, strict=True):
                head = own[choice]
                for tails in self.stream(children):
                    yield [head + tail for tail in tails]
        else:
            for start in range(0, branch.total, _CHUNK):
                yield [own[choice] for choice in branch.choices[start : start + _CHUNK]]

    def _product(self, branches: Sequence[Branch]) -> list[Point]:
        points = self._list(branches[0])
        for branch in branches[1:]:
            tails = self._list(branch)
            points = [head + tail for head in points for tail in tails]
        return points

    def _list(self, branch: Branch) -> list[Point]:
        points = self.known.get(branch)
        if points is not None:
            return points
        own = self.cells[branch.axis]
        if branch.below:
            points = []
            for choice, children in zip(branch.choices, branch.below, strict=True):
                head = own[choice]
                points += [head + tail for tail in self._product(children)]
        else:
            points = [own[choice] for choice in branch.choices]
        if self.room > 0:
            self.room -= len(points)
            self.known[branch] = points
        return points
