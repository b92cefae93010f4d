"""What must hold between knobs: a function or an expression whose reads are known before it is ever called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from winnow.errors import InputError, Place
from winnow.spaces.model.axes import Value
from winnow.spaces.rules.expression import Expression, parse


@dataclass(frozen=True)
class Rule:
    """A rule: `test` is called with the values of `reads`, in that order, and says whether it holds.

    A knob that a point leaves to the kernel's policy has no value. A rule that reads it gets the value that the axis
    declares as the kernel's policy, else the value that the rule names in `absent`; with neither the space is refused.
    """

    name: str
    text: str
    reads: tuple[str, ...]
    test: Callable[..., object] = field(repr=False)
    absent: Mapping[str, Value] = field(default_factory=dict)
    expression: Expression | None = field(default=None, repr=False)
    place: Place | None = None
    decide: Callable[[Mapping[str, Value]], int | None] | None = field(default=None, repr=False)
    """What the rule comes to when only some of its reads have values: an outcome of `automaton`, or None for open."""

    def __call__(self, *args: Any, **kwargs: Any) -> object:
        return self.test(*args, **kwargs)

    def __str__(self) -> str:
        return f'rule "{self.name}"' + ("" if self.text == self.name else f" ({self.text})")

    @staticmethod
    def from_expression(
        text: str,
        *,
        name: str | None = None,
        absent: Mapping[str, Value] | None = None,
        names: Container[str] | None = None,
        place: Place | None = None,
    ) -> Rule:
        """The rule that an expression states; its reads are the expression's names.

        Raises:
            InputError: the text is not an expression of the grammar, or reads a name that is not in `names`.
        """
        expression = parse(text, names=names, place=place)
        return Rule(name or text, text, expression.reads, expression, absent or {}, expression, place)


def rule(text: str) -> Callable[[Callable[..., object]], Rule]:
    """Make a rule of a function: `text` says what must hold, the parameters' names are what it reads.

    A parameter's default is the value that the rule sees where a point leaves that knob to the kernel's policy.
    """

    def made(function: Callable[..., object]) -> Rule:
        parameters = inspect.signature(function).parameters.values()
        for parameter in parameters:
            if parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
                raise InputError(
                    f'rule "{function.__name__}": the parameter {parameter} does not name one knob',
                    cure="name every knob that the rule reads as a plain parameter",
                )
        absent = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
        return Rule(function.__name__, text, tuple(p.name for p in parameters), function, absent)

    return made
