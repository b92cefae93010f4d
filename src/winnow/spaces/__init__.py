"""Tuning spaces: what can vary, what must hold, and exact answers about all that is valid.

`model` says what a space is, `rules` is the language of rules, `diagram` compiles both into one structure, `answers`
reads counts, samples and lists off it. Imports `errors` only, so that it could be a distribution of its own.
Never knows a kernel.

Names are imported when they are used, so that a reader of expressions alone loads neither the rest nor NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from winnow.spaces.answers.estimate import Size
    from winnow.spaces.answers.space import TuningSpace
    from winnow.spaces.model.axes import POLICY, Choice, KnobAxis, Policy, Value, choices, flag, gated, values
    from winnow.spaces.model.opaque import opaque
    from winnow.spaces.model.rule import Rule, rule

__all__ = [
    "POLICY",
    "Choice",
    "KnobAxis",
    "Policy",
    "Rule",
    "Size",
    "TuningSpace",
    "Value",
    "choices",
    "flag",
    "gated",
    "opaque",
    "rule",
    "values",
]

_HOMES = {
    **dict.fromkeys(
        ("POLICY", "Choice", "KnobAxis", "Policy", "Value", "choices", "flag", "gated", "values"), "model.axes"
    ),
    **dict.fromkeys(("Rule", "rule"), "model.rule"),
    "Size": "answers.estimate",
    "TuningSpace": "answers.space",
    "opaque": "model.opaque",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
