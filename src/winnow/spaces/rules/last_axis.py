"""The last axis of a wide rule without trying its choices: a comparison leaves a range, a division the multiples."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from winnow.spaces.rules.partial import Partial

_LARGEST_DIVIDEND = 1 << 24
_MOST_PAIRS = 1 << 25

Array = Any


@dataclass(frozen=True)
class Remaining:
    """Which choices are left in each context: `choices[starts[c]:ends[c]]`; contexts may share them."""

    choices: Array
    starts: Array
    ends: Array


def last_axis(automaton: Partial, state: Sequence[Array], size: int) -> Remaining | None:
    """The choices of the last axis that let the rule hold, for each state; None where the choices have to be tried."""
    if len(automaton.scope) < 2:
        return None
    step = automaton.steps[-2]
    held = state[0] == 1
    if step.ahead is not None:
        return _range(step.residual, step.ahead, -state[1], held)
    match step.residual:
        case ast.Compare(
            left=ast.BinOp(left=ast.Name(id=dividend), op=ast.Mod(), right=ast.Name(id=divisor)),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value=0)],
        ):
            own, slot = automaton.steps[-1].terms, state[1]
            if step.names == (dividend,) and divisor in own:
                return _multiples(slot, own[divisor], held, contexts_divide=False)
            if step.names == (divisor,) and dividend in own:
                return _multiples(own[dividend], slot, held, contexts_divide=True)
    return None


def _range(residual: ast.expr, ahead: Array, bound: Array, held: Array) -> Remaining | None:
    """The choices whose values stand in the right order to the bound, out of all choices sorted by value."""
    assert isinstance(residual, ast.Compare)
    order = np.argsort(ahead, kind="stable")
    before = np.searchsorted(ahead[order], bound, side="left")
    through = np.searchsorted(ahead[order], bound, side="right")
    nothing, all_of_it = np.zeros_like(before), np.full_like(before, len(order))
    ranges: dict[type[ast.cmpop], tuple[Array, Array]] = {
        ast.Lt: (nothing, before),
        ast.LtE: (nothing, through),
        ast.Gt: (through, all_of_it),
        ast.GtE: (before, all_of_it),
        ast.Eq: (before, through),
    }
    if type(residual.ops[0]) not in ranges:
        return None
    starts, ends = ranges[type(residual.ops[0])]
    return Remaining(order, np.where(held, nothing, starts), np.where(held, all_of_it, ends))


def _multiples(dividends: Array, divisors: Array, held: Array, *, contexts_divide: bool) -> Remaining | None:
    """The pairs of a dividend and a divisor of it, sorted by context; whole rows for contexts that hold already."""
    contexts, choices = (divisors, dividends) if contexts_divide else (dividends, divisors)
    live = np.flatnonzero(~held)
    if contexts_divide:
        divisors = contexts[live]
    else:
        dividends = contexts[live]
    if not _fitting(dividends, divisors):
        return None
    multiples, numbers = _divisible(dividends, divisors)
    context, choice = (numbers, multiples) if contexts_divide else (multiples, numbers)
    context = live[context]
    order = np.lexsort((choice, context))
    fan_out = np.bincount(context, minlength=len(contexts))
    ends = np.cumsum(fan_out)
    everything = np.arange(len(choices))
    return Remaining(
        np.concatenate([choice[order], everything]),
        np.where(held, len(order), ends - fan_out),
        np.where(held, len(order) + len(everything), ends),
    )


def _fitting(dividends: Array, divisors: Array) -> bool:
    if not len(dividends) or not len(divisors):
        return False
    if dividends.dtype != np.int64 or divisors.dtype != np.int64 or dividends.min() < 0 or divisors.min() < 1:
        return False
    largest = int(dividends.max())
    return largest <= _LARGEST_DIVIDEND and float(np.sum(largest / divisors + 1)) <= _MOST_PAIRS


def _divisible(dividends: Array, divisors: Array) -> tuple[Array, Array]:
    """The pairs (place of a dividend, place of a divisor of it)."""
    order = np.argsort(dividends, kind="stable")
    starts = np.searchsorted(dividends[order], np.arange(int(dividends.max()) + 2))
    found, by = [], []
    for place, divisor in enumerate(divisors.tolist()):
        low, high = starts[:-1:divisor], starts[1::divisor]
        many = high - low
        first = np.repeat(low - np.cumsum(many) + many, many)
        hits = order[first + np.arange(len(first))]
        found.append(hits)
        by.append(np.full(len(hits), place))
    return np.concatenate(found), np.concatenate(by)
