"""Rules as automata over arrays: read axis by axis for many contexts at once, with a state in columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from winnow.spaces.diagram.automaton import Automaton, smallest
from winnow.spaces.rules.batch import INT_LIMIT
from winnow.spaces.rules.effort import OverBudget
from winnow.spaces.rules.outcome import NO, RAISED, YES

_SMALL_RANGE = 1 << 25

Array = Any


class ArrayAutomaton(Protocol):
    """A rule that is read axis by axis. Its state is a list of columns, as long as there are contexts."""

    @property
    def scope(self) -> tuple[int, ...]: ...

    def advance(self, depth: int, state: Sequence[Array], size: int, wanted: Array) -> tuple[Array, list[Array]]:
        """Which choices of the axis `scope[depth]` leave the rule a chance to hold, and the states after them.

        State columns have the shape (contexts, 1) and there are none before the first axis; what is returned has the
        shape (contexts, size), or (1, size) where contexts do not matter. Only where `wanted` are answers needed.
        """
        ...


class Table:
    """An explicit automaton over arrays: its state is one column."""

    def __init__(self, automaton: Automaton) -> None:
        self.scope = automaton.scope
        self._root = automaton.root
        self._layers = [_matrix(layer) for layer in automaton.layers]

    def advance(self, depth: int, state: Sequence[Array], size: int, wanted: Array) -> tuple[Array, list[Array]]:
        """See `ArrayAutomaton`."""
        layer = self._layers[depth]
        after = layer[state[0][:, 0]] if state else layer[self._root : self._root + 1]
        return after != NO, [after]


def _matrix(layer: Sequence[Sequence[int]]) -> Array:
    if all(isinstance(row, bytes) for row in layer):
        return np.frombuffer(b"".join(layer), dtype=np.uint8).reshape(len(layer), -1)  # type: ignore[arg-type]
    return np.array([list(row) for row in layer], dtype=np.int64)


class Deferred:
    """A rule of which only a function is known: it is called when its last axis is met, where it is still wanted.

    `call` takes the choice of every axis of the scope and gives an outcome, of which those `accepted` count as holding.
    It is called at most `most` times. `raised` says whether it has raised.
    """

    def __init__(
        self, scope: tuple[int, ...], call: Callable[[Sequence[int]], int], accepted: frozenset[int], most: int
    ) -> None:
        self.scope = scope
        self.raised = False
        self._call = call
        self._accepted = accepted
        self._most = most

    def advance(self, depth: int, state: Sequence[Array], size: int, wanted: Array) -> tuple[Array, list[Array]]:
        """See `ArrayAutomaton`."""
        own = np.arange(size)[None, :]
        if depth + 1 < len(self.scope):
            return np.ones((1, size), dtype=np.bool_), [*state, own]
        rows = len(state[0]) if state else len(wanted)
        at, taken = np.nonzero(np.broadcast_to(wanted, (rows, size)))
        self._most -= len(at)
        if self._most < 0:
            raise OverBudget
        chosen = zip(*[column[at, 0].tolist() for column in state], taken.tolist(), strict=True)
        outcomes = np.fromiter(map(self._call, chosen), dtype=np.int8, count=len(at))
        self.raised = self.raised or bool(np.any(outcomes == RAISED))
        alive = np.zeros((rows, size), dtype=np.bool_)
        alive[at, taken] = np.isin(outcomes, list(self._accepted))
        return alive, []


def distinct(columns: Sequence[Array], rows: int) -> tuple[int, Array, Array]:
    """Number the distinct rows: how many there are, the number of every row, and one row of each number."""
    key: Array = np.zeros(rows, dtype=np.int64)
    reach = 1
    for column in columns:
        if not rows:
            break
        bits = _as_integers(column)
        low, high = int(bits.min()), int(bits.max())
        span = high - low + 1
        if span >= INT_LIMIT // reach:
            bits = np.unique(bits, return_inverse=True)[1]
            low, span = 0, int(bits.max()) + 1
        if span >= INT_LIMIT // reach:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            reach = int(key.max()) + 1
        key = key * span + (bits - low)
        reach *= span
    if reach <= max(_SMALL_RANGE // 32, min(_SMALL_RANGE, 4 * rows)):
        used = np.zeros(reach, dtype=np.bool_)
        used[key] = True
        number = int(used.sum())
        place: Array = (np.cumsum(used, dtype=np.int32) - 1)[key]
    else:
        values, place = np.unique(key, return_inverse=True)
        number = len(values)
        place = place.astype(np.int32)
    first = np.zeros(number, dtype=np.int64)
    first[place] = np.arange(rows)
    return number, place, first


def _as_integers(column: Array) -> Array:
    """64 bits that are the same where the values are."""
    if column.dtype == object:
        places: dict[Any, int] = {}
        return np.array([places.setdefault(value, len(places)) for value in column.tolist()], dtype=np.int64)
    return column.view(np.int64) if column.dtype == np.float64 else column.astype(np.int64)


def explored(automaton: ArrayAutomaton, sizes: Sequence[int], most_edges: int) -> Automaton:
    """The explicit automaton of an array automaton whose first column says that the rule already holds, as `Partial`'s.

    Raises:
        OverBudget: it has more than `most_edges` before it is minimised.
    """
    layers: list[list[list[int]]] = []
    state: list[Array] = []
    contexts = 1
    for depth, size in enumerate(sizes):
        most_edges -= contexts * size
        if most_edges < 0:
            raise OverBudget
        wanted = np.ones((1, 1), dtype=np.bool_)
        alive, after = automaton.advance(depth, [column[:, None] for column in state], size, wanted)
        alive = np.broadcast_to(alive, (contexts, size))
        layer = np.where(alive, YES, NO)
        if depth + 1 < len(sizes):
            still = alive & (after[0] != 1)
            columns = [column[still] for column in after]
            number, place, first = distinct(columns, len(columns[0]))
            layer[still] = place + 3
            state, contexts = [column[first] for column in columns], number
        layers.append(layer.tolist())
    return smallest(automaton.scope, layers, sizes)
