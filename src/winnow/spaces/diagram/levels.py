"""Constructs the diagram level by level from automata, in plain Python: for the many spaces with few edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, compress, pairwise, repeat
from operator import itemgetter
from typing import Any

from winnow.spaces.diagram.automaton import Automaton, Row
from winnow.spaces.diagram.diagram import Diagram, Level, free
from winnow.spaces.diagram.order import Step
from winnow.spaces.rules.effort import OverBudget
from winnow.spaces.rules.outcome import NO

States = tuple[int, ...]


@dataclass
class Node:
    """One step of the forest: the automata that it advances, and what each child must know of the past.

    The context of a node holds the states of the automata `carried`. `reads` has for each automaton that the node
    advances the place of its state in the context (-1 where it starts here) and its layer. `children` are nodes by
    position, with the places in (context + advanced states) that make up the child's context.
    """

    axis: int
    carried: tuple[int, ...]
    advanced: list[int] = field(default_factory=list)
    reads: list[tuple[int, tuple[Row, ...], int]] = field(default_factory=list)
    children: list[tuple[int, list[int]]] = field(default_factory=list)


def wire(steps: Sequence[Step], automata: Sequence[Automaton]) -> list[Node]:
    """The nodes of a forest in which the scope of each automaton lies on one path and is listed downward."""
    position = {step.axis: i for i, step in enumerate(steps)}
    carried: list[list[int]] = [[] for _ in steps]
    for which, automaton in enumerate(automata):
        at, start = position[automaton.scope[-1]], position[automaton.scope[0]]
        while at != start:
            carried[at].append(which)
            at = steps[at].parent
    nodes = [Node(step.axis, tuple(past)) for step, past in zip(steps, carried, strict=True)]
    for which, automaton in enumerate(automata):
        for depth, axis in enumerate(automaton.scope):
            node = nodes[position[axis]]
            node.advanced.append(which)
            place = node.carried.index(which) if depth else -1
            node.reads.append((place, automaton.layers[depth], automaton.root))
    for i, step in enumerate(steps):
        if step.parent >= 0:
            parent = nodes[step.parent]
            known = {which: place for place, which in enumerate((*parent.carried, *parent.advanced))}
            parent.children.append((i, [known[which] for which in nodes[i].carried]))
    return nodes


def construct(
    kept: Sequence[Sequence[int]], steps: Sequence[Step], automata: Sequence[Automaton], most_edges: int
) -> Diagram:
    """The diagram of the choices that every automaton holds for, out of those that are kept of each axis.

    Automata number the kept choices from 0. Axes that no step names are free.

    Raises:
        OverBudget: more than `most_edges` edges have to be tried.
    """
    nodes = wire(steps, automata)
    contexts: list[dict[States, int]] = [{} if step.parent >= 0 else {(): 0} for step in steps]
    edges: list[tuple[list[int], list[int], list[list[int]]]] = []
    for node, known in zip(nodes, contexts, strict=True):
        most_edges -= len(known) * len(kept[node.axis])
        if most_edges < 0:
            raise OverBudget
        edges.append(_expand(node, kept[node.axis], known, contexts))
    levels = _totalled(nodes, edges)
    placed = {step.axis for step in steps}
    loose = [free(axis, choices) for axis, choices in enumerate(kept) if axis not in placed]
    roots = [i for i, step in enumerate(steps) if step.parent < 0]
    return Diagram((*levels, *loose), (*roots, *range(len(levels), len(kept))))


def _expand(
    node: Node, kept: Sequence[int], contexts: dict[States, int], known: list[dict[States, int]]
) -> tuple[list[int], list[int], list[list[int]]]:
    """Follow every choice from every context that was reached, and note the contexts that the children get."""
    starts, choices = [0], list[int]()
    targets = [(known[child], _picker(places), list[int]()) for child, places in node.children]
    for context in contexts:
        rows: list[Row] = [layer[root if place < 0 else context[place]] for place, layer, root in node.reads]
        if not targets:
            choices += compress(kept, _allowed(rows)) if rows else kept
        else:
            after = zip(*rows, strict=True) if rows else repeat((), len(kept))
            for choice, states in zip(kept, after, strict=True):
                if NO not in states:
                    choices.append(choice)
                    now = context + states
                    for seen, pick, met in targets:
                        met.append(seen.setdefault(pick(now), len(seen)))
        starts.append(len(choices))
    return starts, choices, [met for _, _, met in targets]


def _allowed(rows: Sequence[Row]) -> Iterable[object]:
    """For every choice something true if no row refuses it."""
    return rows[0] if len(rows) == 1 else map(all, zip(*rows, strict=True))


def _picker(places: Sequence[int]) -> Callable[[States], States]:
    if len(places) == 1:
        only = places[0]
        return lambda states: (states[only],)
    return itemgetter(*places) if places else lambda states: ()


def _totalled(nodes: Sequence[Node], edges: Sequence[tuple[list[int], list[int], list[list[int]]]]) -> list[Level]:
    """Count the points under every edge, from the leaves up."""
    totals: dict[int, list[int]] = {}
    levels: list[Level] = []
    for i in range(len(nodes) - 1, -1, -1):
        starts, choices, below = edges[i]
        children = tuple([child for child, _ in nodes[i].children])
        upto: Any = range(len(choices) + 1)
        if children:
            weights = [map(totals[child].__getitem__, met) for child, met in zip(children, below, strict=True)]
            opened = weights[0] if len(weights) == 1 else map(math.prod, zip(*weights, strict=True))
            upto = list(accumulate(opened, initial=0))
        totals[i] = [after - before for before, after in pairwise([upto[start] for start in starts])]
        levels.append(Level(nodes[i].axis, children, starts[:-1], starts[1:], choices, tuple(below), upto))
    return levels[::-1]
