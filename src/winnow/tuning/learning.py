"""From rules to the diagram: constants first, then one-axis rules, then relations from narrow to wide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from winnow.errors import InputError
from winnow.tuning.axes import shown
from winnow.tuning.diagram import Branch, Diagram, build, unrank
from winnow.tuning.order import Step, forest
from winnow.tuning.relation import NO, RAISED, YES, Relation, fold, judge, tabulate
from winnow.tuning.rules import Rule

_WORTH_SHRINKING = 4096


@dataclass(frozen=True)
class Argument:
    """A name that a rule reads: its axis (None for a given field), and its value for each choice of that axis."""

    name: str
    axis: int | None
    column: Sequence[Any]


def raised(rule: Rule, seen: Sequence[tuple[str, object]], error: Exception) -> InputError:
    """The error of a rule that raised `error` where it read `seen`."""
    return InputError(
        f"{rule} cannot be evaluated at {shown(seen)}: {type(error).__name__}: {error}",
        place=rule.place,
        cure="guard the rule (`x == 0 or y % x == 0`), or take the value out of the space",
    )


@dataclass(frozen=True)
class Bound:
    """A rule and what it reads, in the order of its parameters."""

    rule: Rule
    arguments: tuple[Argument, ...]

    def scope(self, kept: Sequence[Sequence[int]]) -> list[int]:
        """The axes that the rule reads and that still have a choice to make, in order of first appearance."""
        axes = [a.axis for a in self.arguments if a.axis is not None and len(kept[a.axis]) > 1]
        return list(dict.fromkeys(axes))

    def learn(self, scope: Sequence[int], kept: Sequence[Sequence[int]]) -> Relation:
        """The rule as a relation over `scope`, for the kept choices only."""
        place = {axis: i for i, axis in enumerate(scope)}
        inputs: list[tuple[int, Sequence[Any]]] = []
        for argument in self.arguments:
            if argument.axis is None:
                inputs.append((-1, argument.column))
            else:
                column = argument.column
                inputs.append((place.get(argument.axis, -1), [column[choice] for choice in kept[argument.axis]]))
        sizes = [len(kept[axis]) for axis in scope]
        outcomes = tabulate(self.rule.test, inputs, sizes, self.rule.expression is None)
        return fold(tuple(scope), outcomes, sizes)


@dataclass(frozen=True)
class Learnt:
    """A relation, the rule that it states, and which choices of its scope it numbers from 0."""

    bound: Bound
    relation: Relation
    numbered: tuple[Sequence[int], ...]

    def renumbered(self, kept: Sequence[Sequence[int]]) -> Relation:
        """The relation with the choices numbered as in `kept`, of which there may be fewer by now."""
        pairs = list(zip(self.relation.scope, self.numbered, strict=True))
        if all(kept[axis] is then for axis, then in pairs):
            return self.relation
        picks: list[Sequence[int] | None] = []
        for axis, then in pairs:
            place = {choice: i for i, choice in enumerate(then)}
            picks.append(None if kept[axis] is then else [place[choice] for choice in kept[axis]])
        return self.relation.restricted(picks)


def solve(sizes: Sequence[int], rules: Sequence[Bound]) -> Diagram:
    """The diagram of all points that every rule holds for.

    Raises:
        InputError: a rule raises at a point that no other rule refuses.
    """
    kept: list[Sequence[int]] = [range(size) for size in sizes]
    waiting = _narrow(rules, kept)
    if waiting is None or not all(kept):
        return _empty(len(sizes))
    scopes = [bound.scope(kept) for bound in waiting]
    steps = forest([len(keep) for keep in kept], scopes)
    learnt = _learn(waiting, scopes, steps, kept)
    if not all(kept):
        return _empty(len(sizes))
    relations = [one.renumbered(kept) for one in learnt]
    if any(relation.raises for relation in relations):
        for i, one in enumerate(learnt):
            if relations[i].raises:
                _refuse_if_reached(one.bound, i, relations, kept, steps)
        relations = [relation.recast((NO, YES, NO)) for relation in relations]
    return _build(kept, steps, relations)


def _empty(axes: int) -> Diagram:
    nothing = Branch(0)
    return Diagram(tuple(range(axes)), (nothing,), ([nothing],))


def _narrow(rules: Sequence[Bound], kept: list[Sequence[int]]) -> list[Bound] | None:
    """Apply the rules that have one axis at most to read; what is left is to be learnt. None: nothing is valid.

    An axis with one choice left is a constant for the other rules, which may then be narrow in their turn.
    """
    waiting, raising = list(rules), []
    progress = True
    while progress:
        progress, wide = False, []
        for bound in waiting:
            scope = bound.scope(kept)
            if len(scope) > 1:
                wide.append(bound)
                continue
            relation = bound.learn(scope, kept)
            if relation.raises:
                raising.append(bound)
            if relation.root == NO:
                return None
            if relation.root > RAISED:
                (axis,) = scope
                row = relation.layers[0][relation.root]
                kept[axis] = [choice for choice, state in zip(kept[axis], row, strict=True) if state != NO]
                progress = progress or len(kept[axis]) == 1
        waiting = wide
    return waiting + raising


def _learn(
    waiting: Sequence[Bound], scopes: Sequence[Sequence[int]], steps: Sequence[Step], kept: list[Sequence[int]]
) -> list[Learnt]:
    """Learn narrow relations first; they take away the choices that nothing goes with before wide ones are tried."""
    depth = {step.axis: i for i, step in enumerate(steps)}
    learnt: dict[int, Learnt] = {}
    cells = [math.prod([len(kept[axis]) for axis in scope]) for scope in scopes]
    widest = max(cells, default=0)
    for i in sorted(range(len(waiting)), key=lambda i: (cells[i], i)):
        scope = sorted(scopes[i], key=depth.__getitem__)
        relation = waiting[i].learn(scope, kept)
        learnt[i] = Learnt(waiting[i], relation, tuple([kept[axis] for axis in scope]))
        if widest >= _WORTH_SHRINKING:
            for at, axis in enumerate(scope):
                left = relation.supported(at)
                if len(left) < len(kept[axis]):
                    kept[axis] = [kept[axis][choice] for choice in left]
    return [learnt[i] for i in range(len(waiting))]


def _build(kept: Sequence[Sequence[int]], steps: Sequence[Step], relations: Sequence[Relation]) -> Diagram:
    if any(relation.root == NO for relation in relations):
        return _empty(len(kept))
    return build(kept, steps, [relation for relation in relations if relation.root != YES])


def _refuse_if_reached(
    bound: Bound, i: int, relations: Sequence[Relation], kept: Sequence[Sequence[int]], steps: Sequence[Step]
) -> None:
    """Raise what the rule raises at the first point that no other rule refuses, if there is one."""
    others = [relation.recast((NO, YES, YES)) for relation in relations]
    others[i] = relations[i].recast((NO, NO, YES))
    reached = _build(kept, steps, others)
    if not reached.total:
        return
    taken = unrank(reached, 0)
    seen = [a.column[0 if a.axis is None else taken[a.axis]] for a in bound.arguments]
    try:
        judge(bound.rule.test, seen, bound.rule.expression is None)
    except Exception as error:  # noqa: BLE001 - whatever the rule raises is what the user must see
        raise raised(bound.rule, list(zip(bound.rule.reads, seen, strict=True)), error) from None
