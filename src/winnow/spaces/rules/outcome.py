"""What a rule comes to at one point: it holds, it refuses, or it raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

NO, YES, RAISED = 0, 1, 2


def is_truth(kind: type) -> bool:
    """Whether a rule may answer with this type: bools and numbers may, None (a forgotten return) and tuples not."""
    return hasattr(kind, "__bool__") and kind is not type(None)


class NotATruth(TypeError):
    """A rule function answered with something that says neither yes nor no."""

    def __init__(self, answer: object) -> None:
        super().__init__(f"it must return true or false, not {answer!r}")


def outcome(test: Callable[..., object], values: Sequence[Any], exact: bool) -> int:
    """0, 1, or 2 where the rule raises for `values`; with `exact`, an answer that is not a truth counts as raising."""
    try:
        return YES if judge(test, values, exact) else NO
    except Exception:  # noqa: BLE001 - a rule's own exception is an outcome here; it is reported with the values
        return RAISED


def judge(test: Callable[..., object], values: Sequence[Any], exact: bool) -> bool:
    """Whether the rule holds for `values`.

    Raises:
        NotATruth: with `exact`, an answer that says neither yes nor no.
        Exception: whatever the rule raises.
    """
    answer = test(*values)
    if exact and not is_truth(type(answer)):
        raise NotATruth(answer)
    return bool(answer)
