"""From rules to the diagram of all valid points, within a budget; what would exceed it is left out and named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from winnow.spaces.diagram.automata import CompiledRule, compile_rules, narrow
from winnow.spaces.diagram.automaton import Automaton
from winnow.spaces.diagram.diagram import Diagram, free, unrank
from winnow.spaces.diagram.levels import construct
from winnow.spaces.diagram.order import Step, forest
from winnow.spaces.model.binding import Bound, raised
from winnow.spaces.rules.effort import OverBudget
from winnow.spaces.rules.outcome import NO, RAISED, YES, judge

_SMALL_DIAGRAM = 1 << 17
_RELAXED_DIAGRAM = 1 << 20

Outcomes = tuple[int, int, int]
_ANSWERS: Outcomes = (NO, YES, NO)
_UNREFUSED: Outcomes = (NO, YES, YES)
_RAISING: Outcomes = (NO, NO, YES)


@dataclass(frozen=True)
class Compiled:
    """The diagram of all rules but those that were left out, as compiling them would exceed the budget."""

    diagram: Diagram
    left_out: tuple[Bound, ...] = ()


def compile_space(sizes: Sequence[int], rules: Sequence[Bound], budget: int) -> Compiled:
    """The diagram of all points that every rule holds for; `budget` bounds the steps (table cells, edges) of each part.

    Raises:
        InputError: a rule raises at a point that no other rule refuses.
    """
    kept: list[Sequence[int]] = [range(size) for size in sizes]
    waiting = narrow(rules, kept)
    if waiting is None or not all(kept):
        return Compiled(_empty(len(sizes)))
    scopes = [bound.scope(kept) for bound in waiting]
    steps = forest([len(keep) for keep in kept], scopes)
    compiled = compile_rules(waiting, scopes, steps, kept, budget)
    if not all(kept):
        return Compiled(_empty(len(sizes)))
    problem = _Problem(kept, steps, [one.renumbered(kept) for one in compiled], budget)
    try:
        return Compiled(problem.diagram())
    except OverBudget:
        return problem.relaxed()


def _empty(axes: int) -> Diagram:
    return Diagram(tuple([free(axis, ()) for axis in range(axes)]), tuple(range(axes)), void=True)


@dataclass(frozen=True)
class _Problem:
    """What a diagram is made from. `kept` are the choices left of every axis, which automata number from 0."""

    kept: Sequence[Sequence[int]]
    steps: Sequence[Step]
    parts: Sequence[CompiledRule]
    budget: int

    def diagram(self) -> Diagram:
        """The diagram of all parts.

        Raises:
            InputError: a rule raises at a point that no other rule refuses.
            OverBudget: it has too many edges, or asks for too many calls.
        """
        diagram, raising = self._settled()
        for part, reached in raising:
            self._report(part.bound, unrank(reached, 0))
        return diagram

    def _settled(self) -> tuple[Diagram, list[tuple[CompiledRule, Diagram]]]:
        """The diagram of all parts, and of each part that raises where no other refuses, the points where it does."""
        diagram, raising = self._constructed([_UNREFUSED] * len(self.parts))
        if not raising:
            return diagram, []
        found: list[tuple[CompiledRule, Diagram]] = []
        for i in raising:
            views = [_UNREFUSED] * len(self.parts)
            views[i] = _RAISING
            reached, _ = self._constructed(views)
            if reached.total:
                found.append((self.parts[i], reached))
        return self._constructed([_ANSWERS] * len(self.parts))[0], found

    def relaxed(self) -> Compiled:
        """The diagram without the widest rules: one, two, four of them and so on, until it is small.

        A rule that raises where only those may refuse is left out after them: it is then asked at each point.
        """
        by_width = sorted(self.parts, key=lambda part: (part.automaton is None, self._cells(part)))
        budget = _RELAXED_DIAGRAM + 4 * sum(map(len, self.kept))
        leave = 1
        while True:
            kept, left_out = by_width[:-leave], by_width[-leave:]
            try:
                while True:
                    parts = [part for part in self.parts if part in kept]
                    diagram, raising = replace(self, parts=parts, budget=budget)._settled()
                    if not raising:
                        return Compiled(diagram, tuple(part.bound for part in left_out))
                    unsure = [part for part, _ in raising]
                    kept, left_out = [part for part in kept if part not in unsure], [*left_out, *unsure]
            except OverBudget:
                leave *= 2

    def _cells(self, part: CompiledRule) -> int:
        return math.prod([len(self.kept[axis]) for axis in part.scope])

    def _constructed(self, views: Sequence[Outcomes]) -> tuple[Diagram, list[int]]:
        """The diagram of the parts, each seen through a recasting of its outcomes, and which of the parts can raise."""
        raising = [i for i, part in enumerate(self.parts) if part.automaton is not None and part.automaton.raises]
        automata: list[Automaton] = []
        for part, view in zip(self.parts, views, strict=True):
            if part.automaton is not None:
                automaton = part.automaton.recast(view) if part.automaton.raises else part.automaton
                if automaton.root == NO:
                    return _empty(len(self.kept)), raising
                if automaton.root != YES:
                    automata.append(automaton)
        if all(part.automaton is not None for part in self.parts):
            try:
                return construct(self.kept, self.steps, automata, min(self.budget, _SMALL_DIAGRAM)), raising
            except OverBudget:
                if self.budget <= _SMALL_DIAGRAM:
                    raise
        return self._constructed_in_arrays(automata, views, raising)

    def _constructed_in_arrays(
        self, automata: Sequence[Automaton], views: Sequence[Outcomes], raising: list[int]
    ) -> tuple[Diagram, list[int]]:
        # These load NumPy, which small spaces do without.
        from winnow.spaces.diagram.array_automaton import Table
        from winnow.spaces.diagram.array_levels import construct_in_arrays
        from winnow.spaces.diagram.wide_automata import array_automaton

        made: list[Any] = [Table(automaton) for automaton in automata]
        called: list[tuple[int, Any]] = []
        for i, (part, view) in enumerate(zip(self.parts, views, strict=True)):
            if part.automaton is None:
                accepted = frozenset(outcome for outcome in (NO, YES, RAISED) if view[outcome] == YES)
                made.append(array_automaton(part.bound, part.scope, self.kept, accepted, self.budget))
                called.append((i, made[-1]))
        diagram = construct_in_arrays(self.kept, self.steps, made, self.budget)
        return diagram, raising + [i for i, automaton in called if automaton.raised]

    def _report(self, bound: Bound, taken: Sequence[int]) -> None:
        seen = bound.seen(taken)
        try:
            judge(bound.test, [value for _, value in seen], bound.rule.expression is None)
        except Exception as error:  # noqa: BLE001 - whatever the rule raises is what the user must see
            raise raised(bound.rule, seen, error) from None
