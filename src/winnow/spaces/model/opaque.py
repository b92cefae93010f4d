"""Predicates of a foreign registry (`is_valid(spec)`): what they read is found by running them on a traced spec.

A traced spec is of a subclass in which every knob is a descriptor, so that it sees reads by `getattr` with a
default, `hasattr`, methods and properties of the spec and `object.__getattribute__` alike. Reading a knob that has no
value yet raises an exception that `except Exception` does not catch; where something broader swallows it, the read
has been noted, and the answer does not count. What asks for all fields at once (`vars`, `asdict`, `repr`, `==`, `hash`)
reads all knobs. Every answer is confirmed with a real spec; a predicate that distinguishes the two is asked with
real specs only.
"""

from __future__ import annotations

import dataclasses
import random
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from winnow.errors import InputError, nearest
from winnow.spaces.model.axes import POLICY, KnobAxis, Value, shown
from winnow.spaces.model.rule import Rule
from winnow.spaces.rules.outcome import NO, RAISED, YES, judge, outcome

_MOST_PATHS = 1 << 14

Columns = Mapping[str, Sequence[Any]]


class _Unbound(BaseException):
    """A knob was read that has no value yet. Not an `Exception`, so that predicates do not catch it by habit."""


def opaque(
    predicate: Callable[[Any], object],
    *,
    base: Any,
    axes: Sequence[KnobAxis],
    name: str | None = None,
    text: str | None = None,
    refuses: tuple[type[Exception], ...] = (),
) -> Rule:
    """A rule that holds where `predicate` says yes of `base` (a dataclass) with the knobs of `axes` replaced.

    A knob that a point leaves to the kernel's policy keeps the value of `base`. An exception of the types `refuses`,
    from the predicate or from making the spec, is a no; any other one is the rule's. The rule reads the knobs that the
    predicate was seen to read on some path, or all of them where following every path would take too many calls.

    Raises:
        InputError: `base` is not a dataclass, or a knob is not one of its fields.
    """
    if not dataclasses.is_dataclass(base) or isinstance(base, type):
        raise InputError(
            f"{base!r} is not an instance of a dataclass", cure="give a base spec, such as the default one"
        )
    knobs = tuple(knob for axis in axes for knob in axis.knobs)
    fields = [f.name for f in dataclasses.fields(base)]
    for knob in knobs:
        if knob not in fields:
            raise InputError(f'knob "{knob}" is not a field of {type(base).__name__}', cure=nearest(knob, fields))
    columns = {k: [getattr(base, k) if v is POLICY else v for v in axis.column(k)] for axis in axes for k in axis.knobs}
    specs = _Specs(predicate, base, knobs, refuses)
    called = name or str(getattr(predicate, "__name__", "predicate"))
    try:
        reads = _paths(specs, axes, columns)
        traceable = True
    except InputError:
        reads, traceable = knobs, False

    def test(*values: Value) -> object:
        return specs.real(dict(zip(reads, values, strict=True)))

    def decide(bound: Mapping[str, Value]) -> int | None:
        return specs.decided(bound, reads, columns)[0]

    absent = {knob: getattr(base, knob) for knob in reads}
    return Rule(called, text or called, reads, test, absent, decide=decide if traceable else None)


def _paths(specs: _Specs, axes: Sequence[KnobAxis], columns: Columns) -> tuple[str, ...]:
    """The knobs that the predicate reads on some path: each path is followed to its end, if they are not too many."""
    home = {knob: axis for axis in axes for knob in axis.knobs}
    reads: set[str] = set()
    paths: list[dict[str, Value]] = [{}]
    for followed in range(_MOST_PATHS):
        if not paths:
            return tuple(knob for knob in columns if knob in reads)
        path = paths.pop()
        _, asked = specs.decided(path, tuple(columns), columns)
        if asked is not None:
            axis = home[asked]
            reads.add(asked)
            steps = zip(*[columns[knob] for knob in axis.knobs], strict=True)
            paths += [path | dict(zip(axis.knobs, step, strict=True)) for step in steps]
        if followed + len(paths) > _MOST_PATHS:
            break
    return tuple(columns)


class _Specs:
    """Asks a predicate about specs: real ones, and ones of which some knobs have no value yet."""

    def __init__(
        self, predicate: Callable[[Any], object], base: Any, knobs: Sequence[str], refuses: tuple[type[Exception], ...]
    ) -> None:
        self._predicate, self._base, self._refuses = predicate, base, refuses
        self._bound: Mapping[str, Value] = {}
        self._asked: str | None = None
        self._knobs = knobs
        self._traced = self._subclass()
        self._draw = random.Random(0)

    def real(self, values: Mapping[str, Value]) -> object:
        """What the predicate says of a real spec."""
        try:
            return self._predicate(dataclasses.replace(self._base, **values))
        except self._refuses:
            return False

    def decided(
        self, bound: Mapping[str, Value], reads: Sequence[str], columns: Columns
    ) -> tuple[int | None, str | None]:
        """The outcome if the values `bound` decide it, else a knob out of those that it reads next.

        Raises:
            InputError: the predicate distinguishes a traced spec from a real one with the same values.
        """
        unbound = [knob for knob in reads if knob not in bound]
        if not unbound:
            return outcome(self.real, (bound,), True), None
        found, asked = self._ask(bound)
        if found is None:
            return None, asked
        completed = dict(bound) | {knob: self._draw.choice(columns[knob]) for knob in unbound}
        if outcome(self.real, (completed,), True) != found:
            raise InputError(
                f"{self._predicate!r} answers differently for a real spec with {shown(completed.items())}",
                cure="state what it checks as separate rules",
            )
        return found, None

    def _ask(self, bound: Mapping[str, Value]) -> tuple[int | None, str | None]:
        """Run the predicate on a traced spec: its outcome, or the first knob that it read without a value."""
        self._bound, self._asked = bound, None
        try:
            spec = self._spec()
            found = YES if judge(self._predicate, (spec,), True) else NO
        except _Unbound:
            found = RAISED
        except self._refuses:
            found = NO
        except Exception:  # noqa: BLE001 - what the predicate raises is its outcome here
            found = RAISED
        return (found, None) if self._asked is None else (None, self._asked)

    def _spec(self) -> Any:
        spec: Any = object.__new__(self._traced)
        for f in dataclasses.fields(self._base):
            if f.name not in self._knobs:
                object.__setattr__(spec, f.name, getattr(self._base, f.name))
        if hasattr(spec, "__post_init__"):
            spec.__post_init__()
        return spec

    def _subclass(self) -> type:
        kind = type(self._base)

        def everything(spec: Any, *_: Any) -> Any:
            return self._read(next(knob for knob in self._knobs if knob not in self._bound))

        def reader(knob: str) -> property:
            return property(lambda spec: self._read(knob), everything, everything)

        namespace: dict[str, Any] = {knob: reader(knob) for knob in self._knobs}
        namespace["__dict__"] = property(everything)
        namespace["__class__"] = property(lambda spec: kind)
        return types.new_class(kind.__name__, (kind,), {}, lambda body: body.update(namespace))

    def _read(self, knob: str) -> Value:
        if knob in self._bound:
            return self._bound[knob]
        self._asked = self._asked or knob
        raise _Unbound(knob)
