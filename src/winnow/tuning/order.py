"""In which order axes are decided: a forest such that every rule's axes lie on one path from a root downward."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One axis of the forest, in preorder. `parent` is the position of its parent's step, -1 for a root."""

    axis: int
    parent: int


def forest(sizes: Sequence[int], scopes: Sequence[Sequence[int]]) -> list[Step]:
    """The axes that `scopes` name, ordered by min-weight elimination: what is eliminated last is decided first.

    Two axes on different branches never meet in a scope, so their branches are independent once the axes above
    them are decided. Of equal weights the axis goes first that met the fewest others, then the one declared last, so
    that hubs are decided early and declared order is kept where nothing speaks against it.
    """
    near = [0] * len(sizes)
    for scope in scopes:
        mask = sum(1 << axis for axis in scope)
        for axis in scope:
            near[axis] |= mask
    met = [mask.bit_count() for mask in near]
    cost = {axis: _weight(mask, sizes) for axis, mask in enumerate(near) if mask}
    eliminated: dict[int, int] = {}
    while cost:
        axis = min(cost, key=lambda a: (cost[a], met[a], -a))
        del cost[axis]
        eliminated[axis] = bag = near[axis] & ~(1 << axis)
        for other in _bits(bag):
            near[other] = (near[other] | bag) & ~(1 << axis)
            cost[other] = _weight(near[other], sizes)
    return _preorder(eliminated)


def _weight(mask: int, sizes: Sequence[int]) -> int:
    return math.prod(sizes[axis] for axis in _bits(mask))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _preorder(eliminated: dict[int, int]) -> list[Step]:
    turn = {axis: i for i, axis in enumerate(eliminated)}
    children: dict[int, list[int]] = {}
    for axis, bag in eliminated.items():
        children.setdefault(min(_bits(bag), key=turn.__getitem__) if bag else -1, []).append(axis)
    steps: list[Step] = []
    stack = [(axis, -1) for axis in sorted(children.get(-1, ()), reverse=True)]
    while stack:
        axis, parent = stack.pop()
        stack += [(child, len(steps)) for child in sorted(children.get(axis, ()), reverse=True)]
        steps.append(Step(axis, parent))
    return steps
