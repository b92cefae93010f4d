"""In which order axes are decided: a forest such that every rule's axes lie on one path from a root downward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

_VERY_WIDE = 1 << 25
"""Settings of a scope from which on a rule is read by partial results only."""


class Step(NamedTuple):
    """One axis of the forest, in preorder. `parent` is the position of its parent's step, -1 for a root."""

    axis: int
    parent: int


def forest(sizes: Sequence[int], scopes: Sequence[Sequence[int]]) -> list[Step]:
    """The axes that `scopes` name, in an order of elimination read backwards: what is eliminated last is decided first.

    Axes that are in one scope only go first, as they tie nothing together, and those last that come to be such by that,
    in the order of declaration (in a very wide scope as its rule reads them, so that the factors of each product of a
    long sum are decided one after the other). Then the others by weight (the number of settings of the axes that they
    meet), the lightest first. Two axes on different branches never meet in a scope, so their branches are independent
    once the axes above them are decided.
    """
    members: dict[int, list[set[int]]] = {}
    for scope in scopes:
        tied = set(scope)
        for axis in scope:
            members.setdefault(axis, []).append(tied)
    eliminated: dict[int, set[int]] = {}
    places = _places(sizes, scopes)
    single = sorted([axis for axis, tied_by in members.items() if len(tied_by) == 1], key=places.__getitem__)
    while single:
        axis = single.pop()
        (tied,) = members.pop(axis)
        tied.discard(axis)
        eliminated[axis] = tied.copy()
        if len(tied) == 1:
            (other,) = tied
            left = members[other] = [scope for scope in members[other] if scope is not tied]
            if len(left) == 1:
                single.insert(0, other)
            elif not left:
                del members[other]
                eliminated[other] = set()
                if other in single:
                    single.remove(other)
    return _preorder(eliminated | _by_weight(sizes, {axis: set().union(*tied) for axis, tied in members.items()}))


def _places(sizes: Sequence[int], scopes: Sequence[Sequence[int]]) -> dict[int, tuple[int, int]]:
    """What axes are sorted by that are in one scope only: their number, but in a very wide scope their place there."""
    places = {axis: (axis, 0) for scope in scopes for axis in scope}
    for scope in scopes:
        if math.prod([sizes[axis] for axis in scope]) >= _VERY_WIDE:
            places.update({axis: (min(scope), place) for place, axis in enumerate(scope)})
    return places


def _by_weight(sizes: Sequence[int], near: dict[int, set[int]]) -> dict[int, set[int]]:
    """The axes in min-weight order of elimination, each with those that it meets by then.

    Of equal weights the axis goes first that met the fewest others, then the one declared last.
    """
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
    return eliminated


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
