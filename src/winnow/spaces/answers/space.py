"""A tuning space: axes, the rules between them, and exact answers about all valid points without listing them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import getitem
from typing import Any

from winnow.errors import Incomplete, InputError, nearest
from winnow.spaces.answers import listing
from winnow.spaces.answers.estimate import Size, counted, estimated
from winnow.spaces.diagram import compilation
from winnow.spaces.diagram.diagram import Diagram, unrank
from winnow.spaces.diagram.marginals import marginals
from winnow.spaces.model.axes import POLICY, KnobAxis, Policy, Value, refuse_unreadable, shown
from winnow.spaces.model.binding import Bound, bind, refusal
from winnow.spaces.model.rule import Rule

_MOST_DRAWS = 100_000
_DRAWS_PER_POINT = 1_000

Setting = dict[str, Value]


@dataclass(frozen=True)
class TuningSpace:
    """The points that take one choice of every axis and that every rule holds for.

    `given` are fields of the problem and the target that rules may read and that do not vary. A point is a dict
    of the knobs that it sets; a knob that it leaves to the kernel's policy is not in it.

    The order of the rules has no meaning: a point is valid when all of them hold. Where a rule raises, a point that
    another rule refuses is refused; if no rule refuses it, the space is in error and every answer says so.

    `budget` bounds the work for exact answers, in steps (table cells and diagram edges, about ten million a second);
    a call of a rule counts as eight. Beyond it, `size` and `sample` leave the widest rules out and try them on
    random points, and the exact answers raise `Incomplete`.

    Raises:
        InputError: two axes, knobs or rules of one name, a rule that reads neither a knob nor a given field, or that
            reads a knob that may be left to policy without saying what it then sees.
    """

    axes: tuple[KnobAxis, ...]
    rules: tuple[Rule, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    budget: int = 1 << 25

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple(self.axes))
        object.__setattr__(self, "rules", tuple(self.rules))
        object.__setattr__(self, "given", dict(self.given))
        refuse_unreadable(self.given)
        _refuse_twins("axis", "axes", [axis.name for axis in self.axes])
        _refuse_twins("knob", "knobs", [knob for axis in self.axes for knob in axis.knobs])
        _refuse_twins("rule", "rules", [rule.name for rule in self.rules])
        for knob in self._home:
            if knob in self.given:
                raise InputError(f'"{knob}" is a knob and a given field', cure="rename one of the two")
        self._bound  # noqa: B018 - binding the rules to the axes is what validates them

    @cached_property
    def knobs(self) -> tuple[str, ...]:
        """Every knob, in the order of the axes."""
        return tuple([knob for axis in self.axes for knob in axis.knobs])

    @cached_property
    def _home(self) -> dict[str, int]:
        return {knob: i for i, axis in enumerate(self.axes) for knob in axis.knobs}

    @cached_property
    def _bound(self) -> list[Bound]:
        return [bind(rule, self.axes, self._home, self.given) for rule in self.rules]

    @cached_property
    def _compiled(self) -> compilation.Compiled:
        return compilation.compile_space([len(axis.choices) for axis in self.axes], self._bound, self.budget)

    def _exactly(self) -> Diagram:
        """The diagram, if it says all. Raises Incomplete."""
        compiled = self._compiled
        if compiled.left_out and compiled.diagram.total:
            left = ", ".join(str(bound.rule) for bound in compiled.left_out[:3])
            left += f" and {len(compiled.left_out) - 3} more" if len(compiled.left_out) > 3 else ""
            raise Incomplete(
                f"an exact answer is beyond the budget of {self.budget} steps: left out {left}",
                cure="ask for an estimate (`size`), split the rule, or give the space a larger budget",
            )
        return compiled.diagram

    @property
    def cartesian(self) -> int:
        """The number of points before any rule."""
        return math.prod([len(axis.choices) for axis in self.axes])

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the axes in the order in which `enumerate` and `point` count: the last one runs fastest."""
        return tuple(self.axes[axis].name for axis in self._compiled.diagram.axes)

    def count(self) -> int:
        """The exact number of valid points.

        Raises:
            InputError: a rule raises at a point that no other rule refuses; names the rule and the knobs' values.
            Incomplete: counting exactly would exceed the budget; `size` gives an estimate.
        """
        return self._exactly().total

    def size(self, draws: int = 20_000, seed: int = 0) -> Size:
        """The number of valid points: exact where the budget allows it, else an estimate from `draws` random points."""
        compiled = self._compiled
        if not compiled.left_out or not compiled.diagram.total:
            return counted(compiled.diagram.total)
        draw, hits = random.Random(seed), 0
        for _ in range(draws):
            taken = unrank(compiled.diagram, draw.randrange(compiled.diagram.total))
            hits += refusal(compiled.left_out, taken) is None
        return estimated(compiled.diagram.total, hits, draws)

    def marginals(self) -> dict[str, dict[Value | Policy, int]]:
        """For every knob and value the number of valid points that set it so; `POLICY` counts those that leave it.

        Raises:
            InputError, Incomplete: as `count`.
        """
        counts = marginals(self._exactly(), [len(axis.choices) for axis in self.axes])
        table: dict[str, dict[Value | Policy, int]] = {}
        for axis, instances in zip(self.axes, counts, strict=True):
            for knob in axis.knobs:
                sums: dict[Value | Policy, int] = {}
                for choice, number in zip(axis.choices, instances, strict=True):
                    value = dict(choice).get(knob, POLICY)
                    sums[value] = sums.get(value, 0) + number
                table[knob] = sums
        return table

    def point(self, rank: int) -> Setting:
        """The valid point of this rank (0 to count - 1) in the order of `enumerate`.

        Raises:
            IndexError: no such rank.
            InputError, Incomplete: as `count`.
        """
        exact = self._exactly()
        if not 0 <= rank < exact.total:
            raise IndexError(f"rank {rank} of {exact.total} points")
        return self._setting(unrank(exact, rank))

    def _setting(self, taken: Sequence[int]) -> Setting:
        if self._plain is not None:
            return dict(zip(self.knobs, map(getitem, self._plain, taken), strict=True))
        return {
            knob: value for axis, choice in zip(self.axes, taken, strict=True) for knob, value in axis.choices[choice]
        }

    @cached_property
    def _plain(self) -> list[list[Value]] | None:
        """For every axis the value of its knob at each choice, if all axes set one knob and always set it."""
        if all(len(choice) == 1 for axis in self.axes for choice in axis.choices):
            columns = [[choice[0][1] for choice in axis.choices] for axis in self.axes]
            return columns if len(columns) == len(self.knobs) else None
        return None

    def sample(self, n: int, seed: int) -> list[Setting]:
        """`n` points, each drawn uniformly and independently (so one may come twice); the same for the same seed.

        Rules that were left out of the diagram are tried on each draw, which keeps it uniform.

        Raises:
            InputError: the space has no valid point, or a rule raises.
            Incomplete: the rules that were left out refuse nearly every draw.
        """
        compiled = self._compiled
        total = compiled.diagram.total
        if n and not total:
            raise InputError("the space has no valid point to sample from")
        draw = random.Random(seed)
        found: list[Setting] = []
        for _ in range(n if not compiled.left_out else _MOST_DRAWS + _DRAWS_PER_POINT * n):
            if len(found) == n:
                break
            taken = unrank(compiled.diagram, draw.randrange(total))
            if not compiled.left_out or refusal(compiled.left_out, taken) is None:
                found.append(self._setting(taken))
        if len(found) < n:
            raise Incomplete(f"only {len(found)} of {n} points found: the rules left out refuse nearly every draw")
        return found

    def enumerate(self) -> Iterator[Setting]:
        """Every valid point, lazily, in an order that only the axes and the rules decide: see `order`."""
        knobs = self.knobs
        complete = all(len(choice) == len(axis.knobs) for axis in self.axes for choice in axis.choices)
        for values in self.tuples():
            if complete:
                yield dict(zip(knobs, values, strict=True))
            else:
                yield {k: v for k, v in zip(knobs, values, strict=True) if v is not POLICY}

    def tuples(self) -> Iterator[tuple[Any, ...]]:
        """`enumerate` as tuples of the values of `knobs`, `POLICY` where a point leaves the knob unset."""
        compiled = self._compiled
        if not compiled.diagram.roots and compiled.diagram.total:
            yield ()
        columns = [[_column(axis, knob) for knob in axis.knobs] for axis in self.axes]
        if compiled.left_out:
            yield from self._filtered(compiled, columns)
            return
        listed = [knob for axis in compiled.diagram.axes for knob in self.axes[axis].knobs]
        places = [listed.index(knob) for knob in self.knobs]
        for chunk in listing.chunks(compiled.diagram, columns):
            yield from zip(*[chunk[place] for place in places], strict=True)

    def _filtered(self, compiled: compilation.Compiled, columns: listing.Cells) -> Iterator[tuple[Any, ...]]:
        """The points of the diagram that the rules which were left out hold for."""
        numbers = [[range(len(axis.choices))] for axis in self.axes]
        order = compiled.diagram.axes
        places = [order.index(axis) for axis in range(len(self.axes))]
        for chunk in listing.chunks(compiled.diagram, numbers):
            for taken in zip(*[chunk[place] for place in places], strict=True):
                if refusal(compiled.left_out, taken) is None:
                    yield tuple([c[choice] for own, choice in zip(columns, taken, strict=True) for c in own])

    def contains(self, point: Mapping[str, Value]) -> bool:
        """Whether `point` is a valid point; values are compared with their types (`1`, `1.0`, `True` differ).

        Raises:
            InputError: a rule raises there and no other refuses it.
        """
        return self.explain(point) is None

    def explain(self, point: Mapping[str, Value]) -> str | None:
        """Why `point` is not valid: the knob that is unknown or not set as any choice does, or the rule; else None."""
        strangers = [knob for knob in point if knob not in self._home]
        if strangers:
            return f'unknown knob "{strangers[0]}": {nearest(strangers[0], self.knobs)}'
        taken: list[int] = []
        for axis in self.axes:
            choice = axis.choice_of(point)
            if choice is None:
                own = shown((knob, point[knob]) for knob in axis.knobs if knob in point)
                return f'axis "{axis.name}" has no choice {own}'
            taken.append(choice)
        return refusal(self._bound, taken)

    def neighbours(self, point: Mapping[str, Value]) -> list[Setting]:
        """The valid points that differ from `point` in the choice of exactly one axis, in the order of the axes.

        Raises:
            InputError: `point` is not valid.
        """
        reason = self.explain(point)
        if reason is not None:
            raise InputError(f"not a point of the space: {reason}")
        taken = [axis.choice_of(point) or 0 for axis in self.axes]
        found: list[Setting] = []
        for i, axis in enumerate(self.axes):
            concerned = [bound for bound in self._bound if any(a.axis == i for a in bound.arguments)]
            for choice in range(len(axis.choices)):
                if choice != taken[i]:
                    other = [*taken[:i], choice, *taken[i + 1 :]]
                    if refusal(concerned, other) is None:
                        found.append(self._setting(other))
        return found


def _refuse_twins(one: str, several: str, names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        twin = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f'two {several} have the name "{twin}"', cure=f"give every {one} its own name")


def _column(axis: KnobAxis, knob: str) -> list[Any]:
    return [dict(choice).get(knob, POLICY) for choice in axis.choices]
