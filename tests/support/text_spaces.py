"""Tuning spaces from values, and from rules as text."""

from __future__ import annotations

from typing import Any

from winnow.spaces import Rule, TuningSpace, choices


def space_of(params: dict[str, Any], *rules: str, **options: Any) -> TuningSpace:
    return TuningSpace(
        tuple(choices(name, values) for name, values in params.items()),
        tuple(Rule.from_expression(text) for text in rules),
        **options,
    )


def upto(n: int) -> range:
    return range(1, n + 1)
