"""Automata of rules for which plain Python is too slow, built on arrays. Loads NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from winnow.spaces.diagram.array_automaton import Deferred, explored
from winnow.spaces.diagram.automaton import Automaton, fold
from winnow.spaces.model.binding import Bound
from winnow.spaces.rules.batch import Unsuitable
from winnow.spaces.rules.blocks import outcomes
from winnow.spaces.rules.effort import STEPS_PER_CALL, OverBudget
from winnow.spaces.rules.outcome import outcome
from winnow.spaces.rules.partial import Partial, partial

_WORTH_PARTIAL = 1 << 18


def table_automaton(bound: Bound, scope: Sequence[int], kept: Sequence[Sequence[int]], budget: int) -> Automaton | None:
    """A rule given as an expression, as an explicit automaton: by partial results, else by one evaluation over arrays.

    None where neither fits the expression or the budget.
    """
    expression = bound.rule.expression
    assert expression is not None
    sizes = [len(kept[axis]) for axis in scope]
    cells = math.prod(sizes)
    inputs = dict(zip(expression.reads, bound.inputs(scope, kept), strict=True))
    if cells >= _WORTH_PARTIAL:
        try:
            return explored(
                partial(expression.tree, inputs, scope, sizes, budget // STEPS_PER_CALL), sizes, min(budget, cells) >> 3
            )
        except (Unsuitable, OverBudget):
            pass
    if cells <= budget >> 1:
        try:
            return fold(tuple(scope), outcomes(expression.tree, inputs, sizes), sizes)
        except Unsuitable:
            pass
    return None


def array_automaton(
    bound: Bound, scope: Sequence[int], kept: Sequence[Sequence[int]], accepted: frozenset[int], budget: int
) -> Partial | Deferred:
    """A rule too wide for a table, as an array automaton for which the outcomes `accepted` count as holding."""
    rule, sizes = bound.rule, [len(kept[axis]) for axis in scope]
    inputs, most_calls = bound.inputs(scope, kept), budget // STEPS_PER_CALL
    if rule.expression is not None:
        try:
            return partial(rule.expression.tree, dict(zip(rule.reads, inputs, strict=True)), scope, sizes, most_calls)
        except Unsuitable:
            pass

    def call(chosen: Sequence[int]) -> int:
        values = [column[chosen[place] if place >= 0 else 0] for place, column in inputs]
        return outcome(bound.test, values, rule.expression is None)

    return Deferred(tuple(scope), call, accepted, most_calls)
