"""Grows the diagram level by level with arrays: for spaces with hundreds of thousands of edges and more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from winnow.tuning.diagram import Diagram, Level, free
from winnow.tuning.growth import OverBudget
from winnow.tuning.machines import Machine, distinct
from winnow.tuning.order import Step

_BLOCK = 1 << 21
_EXACT = 1 << 62

Array = Any


@dataclass
class _Edges:
    contexts: int
    starts: Array
    choices: Array
    below: list[Array]


@dataclass
class _Node:
    """One step of the forest, as in `growth`, with the machines' states in columns."""

    axis: int
    carried: tuple[int, ...]
    advanced: list[tuple[int, int]]
    children: list[int]


def grow_in_bulk(
    kept: Sequence[Sequence[int]], steps: Sequence[Step], machines: Sequence[Machine], most_edges: int
) -> Diagram:
    """What `growth.grow` gives, for machines.

    Raises:
        OverBudget: the diagram has more than `most_edges`.
        Unsuitable: a machine's numbers do not fit.
    """
    nodes = _wire(steps, machines)
    states: list[dict[int, list[Array]]] = [{} for _ in steps]
    counts = [1] * len(steps)
    edges: list[_Edges] = []
    for i, node in enumerate(nodes):
        found = _expand(node, nodes, kept[node.axis], counts[i], states[i], machines, most_edges)
        states[i] = {}
        most_edges -= len(found[0].choices)
        for child, (number, columns) in zip(node.children, found[1], strict=True):
            counts[child], states[child] = number, columns
        edges.append(found[0])
    levels = _totalled(nodes, edges, kept)
    placed = {step.axis for step in steps}
    loose = [free(axis, choices) for axis, choices in enumerate(kept) if axis not in placed]
    roots = [i for i, step in enumerate(steps) if step.parent < 0]
    return Diagram((*levels, *loose), (*roots, *range(len(levels), len(kept))))


def _wire(steps: Sequence[Step], machines: Sequence[Machine]) -> list[_Node]:
    position = {step.axis: i for i, step in enumerate(steps)}
    carried: list[list[int]] = [[] for _ in steps]
    advanced: list[list[tuple[int, int]]] = [[] for _ in steps]
    for which, machine in enumerate(machines):
        for depth, axis in enumerate(machine.scope):
            advanced[position[axis]].append((which, depth))
        at, start = position[machine.scope[-1]], position[machine.scope[0]]
        while at != start:
            carried[at].append(which)
            at = steps[at].parent
    children: list[list[int]] = [[] for _ in steps]
    for i, step in enumerate(steps):
        if step.parent >= 0:
            children[step.parent].append(i)
    return [_Node(step.axis, tuple(carried[i]), advanced[i], children[i]) for i, step in enumerate(steps)]


def _expand(
    node: _Node,
    nodes: Sequence[_Node],
    kept: Sequence[int],
    contexts: int,
    states: dict[int, list[Array]],
    machines: Sequence[Machine],
    most: int,
) -> tuple[_Edges, list[tuple[int, dict[int, list[Array]]]]]:
    """The edges of a level, and for each child the number of its contexts and their states."""
    size = len(kept)
    fan_outs, choices = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    columns: list[dict[int, list[list[Array]]]] = [{w: [] for w in nodes[child].carried} for child in node.children]
    block = max(1, _BLOCK // max(1, size))
    found = 0
    for low in range(0, contexts, block):
        high = min(contexts, low + block)
        here = {which: [column[low:high, None] for column in state] for which, state in states.items()}
        alive: Any = np.ones((1, size), dtype=np.bool_)
        after: dict[int, list[Array]] = {}
        for which, depth in node.advanced:
            left, after[which] = machines[which].advance(depth, here.get(which, []), size, alive)
            alive = alive & left
        alive = np.broadcast_to(alive, (high - low, size))
        at, taken = np.nonzero(alive)
        found += len(taken)
        if found > most:
            raise OverBudget
        fan_outs.append(np.count_nonzero(alive, axis=1))
        choices.append(taken.astype(np.int32))
        for child in columns:
            for which, parts in child.items():
                state = after.get(which) or here[which]
                wide = [np.broadcast_to(column, (high - low, size)) for column in state]
                parts.append([column[at, taken] for column in wide])
    starts = np.cumsum(np.concatenate(fan_outs))
    edges = _Edges(contexts, starts, np.asarray(kept)[np.concatenate(choices)], [])
    passed = []
    for child in columns:
        flat = [
            (which, column)
            for which, parts in child.items()
            for column in map(np.concatenate, zip(*parts, strict=True))
        ]
        number, place, first = distinct([column for _, column in flat], len(edges.choices))
        edges.below.append(place)
        met: dict[int, list[Array]] = {which: [] for which in child}
        for which, column in flat:
            met[which].append(column[first])
        passed.append((number, met))
    return edges, passed


def _totalled(nodes: Sequence[_Node], edges: Sequence[_Edges], kept: Sequence[Sequence[int]]) -> list[Level]:
    """Count the points under every edge, from the leaves up; in Python's integers where 64 bits might not do."""
    totals: dict[int, Array] = {}
    most: dict[int, int] = {}
    levels: list[Level] = []
    for i in range(len(nodes) - 1, -1, -1):
        node, own = nodes[i], edges[i]
        upto: Any = range(len(own.choices) + 1)
        most[i] = len(kept[node.axis]) * math.prod([most[child] for child in node.children])
        marks = own.starts
        if node.children:
            exact = most[i] * own.contexts < _EXACT
            kind: Any = np.int64 if exact else object
            weights = np.ones(len(own.choices), dtype=kind)
            for child, met in zip(node.children, own.below, strict=True):
                weights = weights * totals[child].astype(kind)[met]
            upto = np.concatenate([np.zeros(1, dtype=kind), np.cumsum(weights, dtype=kind)])
            marks = upto[own.starts]
        totals[i] = marks[1:] - marks[:-1]
        levels.append(Level(node.axis, tuple(node.children), own.starts, own.choices, tuple(own.below), upto))
    return levels[::-1]
