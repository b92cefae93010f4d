"""Compiles rules to automata, narrow ones first, each in the way that suits its width."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from winnow.spaces.diagram.automaton import Automaton, fold, smallest, tabulate
from winnow.spaces.diagram.order import Step
from winnow.spaces.model.binding import Bound
from winnow.spaces.rules.effort import STEPS_PER_CALL
from winnow.spaces.rules.outcome import NO, RAISED

STEPS_PER_DECISION = 256
"""As calling it twice with a spec that reports what is read."""

_WORTH_SHRINKING = 1 << 12
_WORTH_DECIDING = 1 << 8
_WORTH_ARRAYS = 1 << 15

Decide = Callable[[Mapping[str, Any]], int | None]


class CompiledRule(NamedTuple):
    """A rule over `scope` (axes in deciding order) as an automaton, which numbers some choices of each axis from 0.

    Without an automaton the rule is too wide for a table.
    """

    bound: Bound
    scope: tuple[int, ...]
    automaton: Automaton | None
    numbered: tuple[Sequence[int], ...]

    def renumbered(self, kept: Sequence[Sequence[int]]) -> CompiledRule:
        """The same with the choices numbered as in `kept`, of which there may be fewer by now."""
        now = tuple([kept[axis] for axis in self.scope])
        if self.automaton is None or all(one is other for one, other in zip(now, self.numbered, strict=True)):
            return self
        picks: list[Sequence[int] | None] = []
        for left, then in zip(now, self.numbered, strict=True):
            place = {choice: i for i, choice in enumerate(then)}
            picks.append(None if left is then else [place[choice] for choice in left])
        return self._replace(automaton=self.automaton.restricted(picks), numbered=now)


def narrow(rules: Sequence[Bound], kept: list[Sequence[int]]) -> list[Bound] | None:
    """Take from `kept` what rules with one axis refuse. Returns the rules left to compile, or None: nothing is valid.

    An axis with one choice left is a constant for the other rules, which may then be narrow in their turn.
    """
    waiting, raising = list(rules), list[Bound]()
    progress = True
    while progress:
        progress, wide = False, []
        for bound in waiting:
            scope = bound.scope(kept)
            if len(scope) > 1:
                wide.append(bound)
                continue
            automaton = _tabulated(bound, scope, kept)
            if automaton.raises:
                raising.append(bound)
            if automaton.root == NO:
                return None
            if automaton.root > RAISED:
                (axis,) = scope
                row = automaton.layers[0][automaton.root]
                kept[axis] = [choice for choice, state in zip(kept[axis], row, strict=True) if state != NO]
                progress = progress or len(kept[axis]) == 1
        waiting = wide
    return waiting + raising


def compile_rules(
    waiting: Sequence[Bound],
    scopes: Sequence[Sequence[int]],
    steps: Sequence[Step],
    kept: list[Sequence[int]],
    budget: int,
) -> list[CompiledRule]:
    """The automata of the rules, in their order; narrow rules first take from `kept` the choices that fit no others.

    Empty where an axis has no choice left.
    """
    depth = {step.axis: i for i, step in enumerate(steps)}
    cells = [math.prod([len(kept[axis]) for axis in scope]) for scope in scopes]
    widest = max(cells, default=0)
    compiled: dict[int, CompiledRule] = {}
    for i in sorted(range(len(waiting)), key=lambda i: (cells[i], i)):
        scope = sorted(scopes[i], key=depth.__getitem__)
        automaton = _automaton_of(waiting[i], scope, kept, budget)
        compiled[i] = CompiledRule(waiting[i], tuple(scope), automaton, tuple([kept[axis] for axis in scope]))
        if automaton is not None and widest >= _WORTH_SHRINKING:
            for at, axis in enumerate(scope):
                left = automaton.supported(at)
                if len(left) < len(kept[axis]):
                    kept[axis] = [kept[axis][choice] for choice in left]
            if not all(kept):
                return []
    return [compiled[i] for i in range(len(waiting))]


def _automaton_of(bound: Bound, scope: Sequence[int], kept: Sequence[Sequence[int]], budget: int) -> Automaton | None:
    """The rule as an automaton, by the cheapest way that its width allows; None where none does."""
    cells = math.prod([len(kept[axis]) for axis in scope])
    if bound.rule.expression is not None and cells >= _WORTH_ARRAYS:
        from winnow.spaces.diagram.wide_automata import table_automaton  # loads NumPy, which small spaces do without

        automaton = table_automaton(bound, scope, kept, budget)
        if automaton is not None:
            return automaton
    if bound.rule.decide is not None and cells >= _WORTH_DECIDING:
        return _decided(bound, bound.rule.decide, scope, kept, budget // STEPS_PER_DECISION)
    return _tabulated(bound, scope, kept) if cells <= budget // STEPS_PER_CALL else None


def _decided(
    bound: Bound, decide: Decide, scope: Sequence[int], kept: Sequence[Sequence[int]], most_calls: int
) -> Automaton | None:
    """The rule as an automaton, by asking after each axis whether it is decided; None past `most_calls`."""
    inputs = list(zip(bound.rule.reads, bound.inputs(scope, kept), strict=True))
    layers: list[list[list[int]]] = []
    open_settings: list[tuple[int, ...]] = [()]
    for depth, axis in enumerate(scope):
        met, still = [(name, at, column) for name, (at, column) in inputs if at <= depth], list[tuple[int, ...]]()
        most_calls -= len(open_settings) * len(kept[axis])
        if most_calls < 0:
            return None
        rows: list[list[int]] = []
        for setting in open_settings:
            rows.append([])
            for choice in range(len(kept[axis])):
                taken = (*setting, choice)
                outcome = decide({name: column[taken[at] if at >= 0 else 0] for name, at, column in met})
                if outcome is None:
                    outcome = len(still) + 3
                    still.append(taken)
                rows[-1].append(outcome)
        layers.append(rows)
        open_settings = still
    return smallest(tuple(scope), layers, [len(kept[axis]) for axis in scope])


def _tabulated(bound: Bound, scope: Sequence[int], kept: Sequence[Sequence[int]]) -> Automaton:
    """The rule as an automaton, by calling it for every setting of its scope."""
    sizes = [len(kept[axis]) for axis in scope]
    rule = bound.rule
    return fold(tuple(scope), tabulate(bound.test, bound.inputs(scope, kept), sizes, rule.expression is None), sizes)
