"""A rule compiled: the smallest automaton that reads its axes' choices in order and ends in yes, no or raised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, cycle, product, repeat
from operator import mul, truth
from typing import Any, NamedTuple

from winnow.spaces.rules.outcome import NO, RAISED, YES, is_truth, outcome

_SINKS = (NO, YES, RAISED)

Row = Sequence[int]


class Automaton(NamedTuple):
    """A rule over `scope` (axes in deciding order): `layers[i][state][choice]` is the state after axis `scope[i]`.

    The states 0, 1, 2 are sinks: the rule is refused, holds, or raises, whatever follows. `root` is the first state,
    `raises` says whether some setting of the scope makes the rule raise.
    """

    scope: tuple[int, ...]
    root: int
    layers: tuple[tuple[Row, ...], ...]
    raises: bool

    def recast(self, sinks: tuple[int, int, int]) -> Automaton:
        """The same automaton with its three outcomes replaced."""

        def state(old: int) -> int:
            return sinks[old] if old < 3 else old

        layers = tuple((*layer[:3], *(tuple(map(state, row)) for row in layer[3:])) for layer in self.layers)
        return Automaton(self.scope, state(self.root), layers, self.raises and RAISED in sinks)

    def restricted(self, kept: Sequence[Sequence[int] | None]) -> Automaton:
        """Only the choices `kept[i]` of the axis `scope[i]` (None: all of them)."""
        layers = [
            layer if keep is None else tuple([tuple(map(row.__getitem__, keep)) for row in layer])
            for layer, keep in zip(self.layers, kept, strict=True)
        ]
        return Automaton(self.scope, self.root, tuple(layers), self.raises)

    def supported(self, at: int) -> list[int]:
        """The choices of the axis `scope[at]` that the rule accepts or raises for under some setting of the others."""
        size = len(self.layers[at][0])
        decided = any(YES in row or RAISED in row for layer in self.layers[:at] for row in layer[3:])
        if self.root < 3 or decided:
            return list(range(size)) if self.root else []
        return [choice for choice, used in enumerate(_united(self.layers[at][3:], size)) if used]


def _united(rows: Sequence[Row], size: int) -> Iterable[int]:
    """For every choice a value that is 0 only if every row has 0 there."""
    if all(isinstance(row, bytes) for row in rows):
        union = 0
        for row in rows:
            union |= int.from_bytes(row, "little")
        return union.to_bytes(size, "little")
    return map(any, zip(*rows, strict=True))


def fold(scope: tuple[int, ...], outcomes: bytes, sizes: Sequence[int]) -> Automaton:
    """The automaton whose outcomes (0, 1 or 2) are listed with the last axis of the scope running fastest."""
    layers: list[tuple[Row, ...]] = []
    states: Row = outcomes
    for size in reversed(sizes):
        known: dict[Row, int] = {}
        for sink in _SINKS:
            known[bytes((sink,)) * size if isinstance(states, bytes) else (sink,) * size] = sink
        starts = range(0, len(states), size)
        folded = [known.setdefault(states[i : i + size], len(known)) for i in starts]
        layers.append(tuple(known))
        states = bytes(folded) if len(known) <= 256 else tuple(folded)
    return Automaton(scope, states[0], tuple(reversed(layers)), RAISED in outcomes)


def smallest(scope: tuple[int, ...], layers: Sequence[Iterable[Sequence[int]]], sizes: Sequence[int]) -> Automaton:
    """The smallest automaton with these layers: states with the same future are merged.

    `layers[i]` lists the rows of the states 3, 4, … that are met before axis `scope[i]`, the first one at the root.
    """
    merged: list[tuple[Row, ...]] = []
    names = list(_SINKS)
    raises = False
    for layer, size in zip(reversed(layers), reversed(sizes), strict=True):
        known: dict[Row, int] = {(sink,) * size: sink for sink in _SINKS}
        numbers = [known.setdefault(tuple(map(names.__getitem__, row)), len(known)) for row in layer]
        merged.append(tuple(known))
        raises = raises or any(RAISED in row for row in merged[-1][3:])
        names = [*_SINKS, *numbers]
    return Automaton(scope, names[3], tuple(reversed(merged)), raises or names[3] == RAISED)


def tabulate(
    test: Callable[..., object], arguments: Sequence[tuple[int, Sequence[Any]]], sizes: Sequence[int], exact: bool
) -> bytes:
    """The outcomes of `test` over the product of `sizes`, the last one running fastest: 0, 1, or 2 where it raises.

    `arguments` has for each parameter the position in `sizes` of the axis that it follows and its value for each
    choice of that axis; position -1 is a constant. With `exact`, an answer that is not a truth counts as raising.
    """
    if not sizes:
        return bytes([outcome(test, [column[0] for _, column in arguments], exact)])
    inner = list(accumulate(sizes[:0:-1], mul, initial=1))[::-1]
    streams = [_stream(at, column, inner) for at, column in arguments]
    try:
        if not exact:
            return bytes(map(truth, map(test, *streams)))
        answers = list(map(test, *streams))
        if all(map(is_truth, set(map(type, answers)))):
            return bytes(map(truth, answers))
    except Exception:  # noqa: BLE001 - whatever it raises, the slow way below says for which choices
        pass
    return bytes(
        outcome(test, [column[taken[at] if at >= 0 else 0] for at, column in arguments], exact)
        for taken in product(*map(range, sizes))
    )


def _stream(at: int, column: Sequence[Any], inner: Sequence[int]) -> Iterator[Any]:
    if at < 0:
        return repeat(column[0])
    once = chain.from_iterable(map(repeat, column, repeat(inner[at]))) if inner[at] > 1 else column
    return iter(once) if at == 0 else cycle(once)
