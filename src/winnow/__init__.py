"""Winnow: from a kernel family's tuning registry to the smallest catalog worth shipping."""

__version__ = "0.1.0"
