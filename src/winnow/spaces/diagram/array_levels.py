"""Constructs the diagram level by level on arrays: for spaces with hundreds of thousands of edges or more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from winnow.spaces.diagram.array_automaton import ArrayAutomaton, distinct
from winnow.spaces.diagram.diagram import Diagram, Level, free
from winnow.spaces.diagram.order import Step
from winnow.spaces.rules.batch import INT_LIMIT
from winnow.spaces.rules.effort import OverBudget
from winnow.spaces.rules.last_axis import last_axis
from winnow.spaces.rules.partial import Partial

_BLOCK = 1 << 20
_TRIES_PER_EDGE = 8
_STEPS_PER_STATE = 2

Array = Any
States = dict[int, list[Array]]
"""The state columns of the automata that a context carries, by the automaton's number."""


@dataclass
class _Node:
    """One step of the forest, as in `levels`: `advanced` pairs automata with this axis' depth in them."""

    axis: int
    carried: tuple[int, ...]
    advanced: list[tuple[int, int]]
    children: list[int]


@dataclass
class _Edges:
    """The edges of a level, and where they lead: for each child the number of its contexts and their states."""

    starts: Array
    ends: Array
    choices: Array
    below: list[Array] = field(default_factory=list)
    met: list[tuple[int, States]] = field(default_factory=list)


def construct_in_arrays(
    kept: Sequence[Sequence[int]], steps: Sequence[Step], automata: Sequence[ArrayAutomaton], most_edges: int
) -> Diagram:
    """What `levels.construct` gives, for automata.

    Raises:
        OverBudget: the diagram has more than `most_edges`, where a context counts as several edges, or several times
            as many choices have to be tried.
        Unsuitable: an automaton's numbers do not fit.
    """
    nodes = _wire(steps, automata)
    met: list[tuple[int, States]] = [(1, {})] * len(steps)
    levels: list[_Edges] = []
    tries = most_edges * _TRIES_PER_EDGE
    for i, node in enumerate(nodes):
        contexts, states = met[i]
        edges = _last_level(node, kept[node.axis], states, automata)
        if edges is None:
            tries -= contexts * len(kept[node.axis])
            if tries < 0:
                raise OverBudget
            edges = _expanded(node, nodes, kept[node.axis], contexts, states, automata, most_edges)
        most_edges -= len(edges.choices)
        if most_edges < 0:
            raise OverBudget
        for child, found in zip(node.children, edges.met, strict=True):
            met[child] = found
        met[i], edges.met = (contexts, {}), []
        levels.append(edges)
    placed = {step.axis for step in steps}
    loose = [free(axis, choices) for axis, choices in enumerate(kept) if axis not in placed]
    roots = [i for i, step in enumerate(steps) if step.parent < 0]
    return Diagram((*_totalled(nodes, levels, kept), *loose), (*roots, *range(len(levels), len(kept))))


def _wire(steps: Sequence[Step], automata: Sequence[ArrayAutomaton]) -> list[_Node]:
    position = {step.axis: i for i, step in enumerate(steps)}
    carried: list[list[int]] = [[] for _ in steps]
    advanced: list[list[tuple[int, int]]] = [[] for _ in steps]
    for which, automaton in enumerate(automata):
        for depth, axis in enumerate(automaton.scope):
            advanced[position[axis]].append((which, depth))
        at, start = position[automaton.scope[-1]], position[automaton.scope[0]]
        while at != start:
            carried[at].append(which)
            at = steps[at].parent
    children: list[list[int]] = [[] for _ in steps]
    for i, step in enumerate(steps):
        if step.parent >= 0:
            children[step.parent].append(i)
    return [_Node(step.axis, tuple(carried[i]), advanced[i], children[i]) for i, step in enumerate(steps)]


def _last_level(node: _Node, kept: Sequence[int], states: States, automata: Sequence[ArrayAutomaton]) -> _Edges | None:
    """The edges of an axis at which nothing but the end of one wide rule is decided, where that needs no trying."""
    if node.children or len(node.advanced) != 1:
        return None
    ((which, _),) = node.advanced
    automaton = automata[which]
    found = (
        last_axis(automaton, states[which], len(kept)) if isinstance(automaton, Partial) and which in states else None
    )
    return None if found is None else _Edges(found.starts, found.ends, _as_choices(kept)[found.choices])


def _as_choices(kept: Sequence[int]) -> Array:
    return np.asarray(kept, dtype=np.int32)


def _expanded(
    node: _Node,
    nodes: Sequence[_Node],
    kept: Sequence[int],
    contexts: int,
    states: States,
    automata: Sequence[ArrayAutomaton],
    most: int,
) -> _Edges:
    """Try every choice in every context, block by block."""
    size = len(kept)
    fan_outs, choices = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    gathered = [_Gathered(nodes[child].carried) for child in node.children]
    block = max(1, _BLOCK // max(1, size))
    for low in range(0, contexts, block):
        rows = min(contexts - low, block)
        here = {which: [column[low : low + rows, None] for column in state] for which, state in states.items()}
        alive: Any = np.ones((1, size), dtype=np.bool_)
        after: States = {}
        for which, depth in node.advanced:
            left, after[which] = automata[which].advance(depth, here.get(which, []), size, alive)
            alive = alive & left
        alive = np.broadcast_to(alive, (rows, size))
        at, taken = np.nonzero(alive)
        most -= len(at)
        if most < 0:
            raise OverBudget
        fan_outs.append(np.count_nonzero(alive, axis=1))
        choices.append(taken.astype(np.int32))
        for child in gathered:
            states_after = {which: after.get(which) or here[which] for which in child.carried}
            most -= _STEPS_PER_STATE * child.take(states_after, rows, size, at, taken)
    ends = np.cumsum(np.concatenate(fan_outs))
    edges = _Edges(ends - np.concatenate(fan_outs), ends, _as_choices(kept)[np.concatenate(choices)])
    for child in gathered:
        place, found = child.united()
        edges.below.append(place)
        edges.met.append(found)
    return edges


class _Gathered:
    """The states in which a child is met, gathered block by block; equal ones are made one within each block first."""

    def __init__(self, carried: Sequence[int]) -> None:
        self.carried = carried
        self._places: list[Array] = [np.zeros(0, dtype=np.int32)]
        self._columns: list[list[Array]] = []
        self._widths: list[tuple[int, int]] = []
        self._rows = 0

    def take(self, states: States, rows: int, size: int, at: Array, taken: Array) -> int:
        """Gather the states after a block's edges; returns how many different ones there are in it."""
        columns = [np.broadcast_to(c, (rows, size))[at, taken] for which in self.carried for c in states[which]]
        number, place, first = distinct(columns, len(at))
        self._places.append(place + np.int32(self._rows))
        self._columns.append([column[first] for column in columns])
        self._widths = [(which, len(states[which])) for which in self.carried]
        self._rows += number
        return number

    def united(self) -> tuple[Array, tuple[int, States]]:
        """For every edge the number of its context, and the contexts: how many, and their states."""
        columns = [np.concatenate(parts) for parts in zip(*self._columns, strict=True)]
        number, place, first = distinct(columns, self._rows)
        states: States = {}
        for which, width in self._widths:
            states[which], columns = [column[first] for column in columns[:width]], columns[width:]
        return place[np.concatenate(self._places)], (number, states)


def _totalled(nodes: Sequence[_Node], edges: Sequence[_Edges], kept: Sequence[Sequence[int]]) -> list[Level]:
    """Count the points under every edge, from the leaves up; in Python's integers where 64 bits might not do."""
    totals: dict[int, Array] = {}
    most: dict[int, int] = {}
    levels: list[Level] = []
    for i in range(len(nodes) - 1, -1, -1):
        node, own = nodes[i], edges[i]
        upto: Any = range(len(own.choices) + 1)
        totals[i] = own.ends - own.starts
        most[i] = len(kept[node.axis]) * math.prod([most[child] for child in node.children])
        if node.children:
            kind: Any = np.int64 if most[i] * len(own.starts) < INT_LIMIT else object
            weights = np.ones(len(own.choices), dtype=kind)
            for child, met in zip(node.children, own.below, strict=True):
                weights = weights * totals[child].astype(kind)[met]
            upto = np.concatenate([np.zeros(1, dtype=kind), np.cumsum(weights, dtype=kind)])
            totals[i] = upto[own.ends] - upto[own.starts]
        levels.append(Level(node.axis, tuple(node.children), own.starts, own.ends, own.choices, tuple(own.below), upto))
    return levels[::-1]
