"""How counts are said: `1 kernel`, `12 kernels`, `1,024 kernels`."""

from __future__ import annotations

_ES = ("ches", "shes", "sses", "xes")


def amount(number: int, things: str) -> str:
    """A number of things, of which the last word is a plural that ends in `s`."""
    if number != 1:
        return f"{number:,} {things}"
    return f"1 {things[: -2 if things.endswith(_ES) else -1]}"
