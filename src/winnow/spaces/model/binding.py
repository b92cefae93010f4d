"""Rules bound to the axes that they read: what each sees at every choice, and which of them refuses a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from winnow.errors import InputError, nearest
from winnow.spaces.model.axes import POLICY, KnobAxis, shown
from winnow.spaces.model.rule import Rule
from winnow.spaces.rules.arithmetic import numbers
from winnow.spaces.rules.outcome import judge


class Argument(NamedTuple):
    """A name that a rule reads: its axis (None for a given field), and its value for each choice of that axis."""

    name: str
    axis: int | None
    column: Sequence[Any]


def raised(rule: Rule, seen: Sequence[tuple[str, object]], error: Exception) -> InputError:
    """The error of a rule that raised `error` where it read `seen`."""
    return InputError(
        f"{rule} cannot be evaluated at {shown(seen)}: {type(error).__name__}: {error}",
        place=rule.place,
        cure=getattr(error, "cure", "guard the rule (`x == 0 or y % x == 0`), or take the value out of the space"),
    )


class Bound(NamedTuple):
    """A rule, what it reads, in the order of its parameters, and the function that says of such values what it does."""

    rule: Rule
    arguments: tuple[Argument, ...]
    test: Callable[..., object]

    def scope(self, kept: Sequence[Sequence[int]]) -> list[int]:
        """The axes that the rule reads and that still have a choice to make, in order of first appearance."""
        axes = [a.axis for a in self.arguments if a.axis is not None and len(kept[a.axis]) > 1]
        return list(dict.fromkeys(axes))

    def inputs(self, scope: Sequence[int], kept: Sequence[Sequence[int]]) -> list[tuple[int, Sequence[Any]]]:
        """For each argument the place of its axis in `scope` (-1: a constant) and its values for the kept choices."""
        place = {axis: i for i, axis in enumerate(scope)}
        found: list[tuple[int, Sequence[Any]]] = []
        for argument in self.arguments:
            axis, column = argument.axis, argument.column
            if axis is not None and len(kept[axis]) < len(column):
                column = [column[choice] for choice in kept[axis]]
            found.append((-1 if axis is None else place.get(axis, -1), column))
        return found

    def seen(self, taken: Sequence[int]) -> list[tuple[str, Any]]:
        """What the rule reads at the point of these choices."""
        return [(a.name, a.column[0 if a.axis is None else taken[a.axis]]) for a in self.arguments]


def bind(rule: Rule, axes: Sequence[KnobAxis], home: Mapping[str, int], given: Mapping[str, Any]) -> Bound:
    """The rule over the axes and the given fields that it reads; `home` has each knob's axis.

    An expression is made a function that looks out for text where there is any.

    Raises:
        InputError: the rule reads a name that is neither, or a knob that may be left to policy without saying so.
    """
    arguments = []
    for name in rule.reads:
        if name in home:
            arguments.append(Argument(name, home[name], _visible(rule, name, axes[home[name]])))
        elif name in given:
            arguments.append(Argument(name, None, [given[name]]))
        else:
            raise InputError(
                f'{rule} reads "{name}", which is neither a knob nor a given field',
                place=rule.place,
                cure=nearest(name, (*home, *given)),
            )
    test: Callable[..., object] = rule.test
    if rule.expression is not None:
        test = rule.expression.over([argument.name for argument in arguments if not numbers(argument.column)])
    return Bound(rule, tuple(arguments), test)


def _visible(rule: Rule, name: str, axis: KnobAxis) -> list[Any]:
    column: list[Any] = axis.column(name)
    if POLICY in column:
        if name not in rule.absent:
            raise InputError(
                f'{rule} reads "{name}", which axis "{axis.name}" may leave to the kernel\'s policy',
                place=rule.place,
                cure="declare on the axis what the policy then does, or give the rule a value for that case "
                "(a default of the parameter)",
            )
        return [rule.absent[name] if value is POLICY else value for value in column]
    return column


def refusal(rules: Sequence[Bound], taken: Sequence[int]) -> str | None:
    """Which rule refuses the point that takes these choices. A rule that raises matters only if no other refuses."""
    failure: InputError | None = None
    for bound in rules:
        seen, rule = bound.seen(taken), bound.rule
        try:
            holds = judge(bound.test, [value for _, value in seen], rule.expression is None)
        except Exception as error:  # noqa: BLE001 - whatever a rule raises is reported with the rule's name
            failure = failure or raised(rule, seen, error)
            continue
        if not holds:
            return f"{rule} refuses {shown(seen)}"
    if failure is not None:
        raise failure
    return None
