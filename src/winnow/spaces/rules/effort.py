"""What an answer may cost, and the exception for what would cost more."""

from __future__ import annotations


class OverBudget(Exception):
    """More edges or calls than the caller allows."""


STEPS_PER_CALL = 8
"""Calling a rule costs about as much as so many table cells or edges."""
