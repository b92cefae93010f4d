"""In which order axes are decided: a forest such that every rule's axes lie on one path from a root downward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Step(NamedTuple):
    """One axis of the forest, in preorder. `parent` is the position of its parent's step, -1 for a root."""

    axis: int
    parent: int


def forest(sizes: Sequence[int], scopes: Sequence[Sequence[int]]) -> list[Step]:
    """The axes that `scopes` name, ordered by min-weight elimination: what is eliminated last is decided first.

    Two axes on different branches never meet in a scope, so their branches are independent once the axes above
    them are decided. Of equal weights the axis goes first that met the fewest others, then the one declared last, so
    that hubs are decided early and declared order is kept where nothing speaks against it.
    """
    near: dict[int, set[int]] = {}
    for scope in scopes:
        for axis in scope:
            near.setdefault(axis, set()).update(scope)
    met = {axis: len(others) for axis, others in near.items()}

    def merit(axis: int) -> tuple[int, int, int]:
        return math.prod([sizes[other] for other in near[axis]]), met[axis], -axis

    merits = {axis: merit(axis) for axis in near}
    eliminated: dict[int, set[int]] = {}
    while merits:
        axis = min(merits, key=merits.__getitem__)
        del merits[axis]
        bag = near[axis]
        bag.discard(axis)
        eliminated[axis] = bag
        for other in bag:
            near[other] |= bag
            near[other].discard(axis)
            merits[other] = merit(other)
    return _preorder(eliminated)


def _preorder(eliminated: dict[int, set[int]]) -> list[Step]:
    """An axis hangs below the first of the axes that it still met when it was eliminated."""
    turn = {axis: i for i, axis in enumerate(eliminated)}
    children: dict[int, list[int]] = {}
    for axis, bag in eliminated.items():
        children.setdefault(min(bag, key=turn.__getitem__) if bag else -1, []).append(axis)
    steps: list[Step] = []
    stack = [(axis, -1) for axis in sorted(children.get(-1, ()), reverse=True)]
    while stack:
        axis, parent = stack.pop()
        if axis in children:
            stack += [(child, len(steps)) for child in sorted(children[axis], reverse=True)]
        steps.append(Step(axis, parent))
    return steps
