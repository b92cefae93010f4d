"""What can be tuned: one axis is one independent decision, each of its choices sets knobs or leaves them alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Final
from unicodedata import normalize

from winnow.errors import InputError

Value = bool | int | float | str | None
Choice = tuple[tuple[str, Value], ...]

_PLAIN = {bool, int, str, type(None)}


class Policy:
    """The mark of a knob that a point leaves to the kernel's own policy: not a value, neither true nor false."""

    def __repr__(self) -> str:
        return "(policy)"

    def __bool__(self) -> bool:
        raise TypeError("a knob that is left to the kernel's policy is neither true nor false")


POLICY: Final = Policy()


@dataclass(frozen=True)
class KnobAxis:
    """One decision: exactly one of `choices` is taken. `()` leaves every knob of the axis to the kernel's policy.

    `policy` says what the kernel then does, where that is known, as a choice of its own: rules that read a knob
    which a point leaves unset are given that value. Knob values are JSON scalars. An `enabler` leads in listings.

    Raises:
        InputError: no choices, two equal choices, a knob twice in one choice, a value that is not a JSON scalar, a
            knob that rules cannot read.
    """

    name: str
    choices: tuple[Choice, ...]
    enabler: bool = False
    policy: Choice = ()
    knobs: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The knobs that at least one choice sets, in order of first appearance."""

    def __post_init__(self) -> None:
        settings = [setting for choice in self.choices for setting in choice]
        if not settings:
            raise InputError(f'axis "{self.name}" has no values', cure="give it one value at least, or remove it")
        object.__setattr__(self, "knobs", tuple(dict.fromkeys([knob for knob, _ in settings])))
        refuse_unreadable(self.knobs, f'axis "{self.name}": ')
        if max(map(len, self.choices)) > 1:
            self._refuse_twice_set()
        if not {type(value) for _, value in settings} <= _PLAIN or self.policy:
            for knob, value in (*settings, *self.policy):
                _refuse_unless_scalar(self.name, knob, value)
        if len(set(self.choices)) != len(self.choices):
            raise InputError(
                f'axis "{self.name}": the choice {shown(_first_twin(self.choices))} appears twice'
                " (rules cannot distinguish values that are equal in Python)",
                cure="keep one of the two",
            )
        for knob, _ in self.policy:
            if knob not in self.knobs:
                raise InputError(f'axis "{self.name}": policy names "{knob}", which no choice sets')

    def _refuse_twice_set(self) -> None:
        for choice in self.choices:
            if len({knob for knob, _ in choice}) != len(choice):
                raise InputError(f'axis "{self.name}": the choice {shown(choice)} sets a knob twice')

    def column(self, knob: str) -> list[Value | Policy]:
        """The knob's value under every choice; `POLICY` where a choice leaves it unset and no policy is declared."""
        fallback: Value | Policy = dict(self.policy).get(knob, POLICY)
        if len(self.knobs) == 1:
            return [choice[0][1] if choice else fallback for choice in self.choices]
        return [dict(choice).get(knob, fallback) for choice in self.choices]

    @cached_property
    def _places(self) -> dict[frozenset[tuple[str, type, Value]], int]:
        return {_exact(choice): i for i, choice in enumerate(self.choices)}

    def choice_of(self, point: Mapping[str, Value]) -> int | None:
        """Which choice sets this axis' knobs as `point` does, or None. `1`, `1.0` and `True` are three values."""
        return self._places.get(_exact((knob, point[knob]) for knob in self.knobs if knob in point))


def _exact(settings: Iterable[tuple[str, Value]]) -> frozenset[tuple[str, type, Value]]:
    return frozenset((knob, type(value), value) for knob, value in settings)


def refuse_unreadable(names: Iterable[str], where: str = "") -> None:
    """Refuse a name that Python reads as another one, as it normalises the names in rules. Raises InputError."""
    for name in names:
        if not name.isascii() and (read := normalize("NFKC", name)) != name:
            raise InputError(
                f'{where}rules cannot read "{name}", which Python takes for "{read}"', cure=f'name it "{read}"'
            )


def _refuse_unless_scalar(axis: str, knob: str, value: object) -> None:
    if type(value) not in _PLAIN and not (isinstance(value, float) and math.isfinite(value)):
        raise InputError(
            f'axis "{axis}": {knob}={value!r} is not a JSON scalar',
            cure="use a bool, an int, a finite float, a string or None",
        )


def _first_twin(items: Iterable[Choice]) -> Choice:
    seen: set[Choice] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    raise AssertionError("no twins")


def shown(settings: Iterable[tuple[str, object]]) -> str:
    """`(("a", 1), ("b", "x"))` as `a=1, b='x'`: how errors show knob values."""
    return ", ".join(f"{knob}={value!r}" for knob, value in settings) or "(left to policy)"


def flag(name: str, *, policy: Choice = ()) -> KnobAxis:
    """Leave the knob to policy, or set it to True."""
    return KnobAxis(name, ((), ((name, True),)), policy=policy)


def values(name: str, default: Value, options: Iterable[Value], *, policy: Choice = ()) -> KnobAxis:
    """Leave the knob to policy, or set it to any of `options` but the default.

    The default is not a choice of its own, as setting it explicitly would give one kernel two names.
    """
    others = [o for o in options if not (type(o) is type(default) and o == default)]
    return KnobAxis(name, ((), *(((name, option),) for option in others)), policy=policy)


def gated(gate: str, subs: Mapping[str, Iterable[Value]], *, policy: Choice = ()) -> KnobAxis:
    """Leave all to policy, or set the gate to True together with every combination of its sub-knobs' options."""
    combinations = product(*([(sub, option) for option in options] for sub, options in subs.items()))
    return KnobAxis(gate, ((), *(((gate, True), *settings) for settings in combinations)), policy=policy)


def choices(name: str, options: Iterable[Value]) -> KnobAxis:
    """Set the knob to any of `options`; it is never left to policy."""
    return KnobAxis(name, tuple([((name, option),) for option in options]))


def knob_requirements(axes: Iterable[KnobAxis]) -> dict[str, str]:
    """Sub-knob -> its gate: the knob that leads every choice in which the sub-knob is set."""
    gates: dict[str, str] = {}
    for axis in axes:
        for choice in axis.choices:
            for knob, _ in choice[1:]:
                gates[knob] = choice[0][0]
    return gates
