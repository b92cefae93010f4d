"""Kernel name templates: one token for each spec field, so that two specs never share a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAX_NAME_BYTES = 128


def abbreviations(names: Sequence[str]) -> dict[str, str]:
    """A short, distinct prefix for each field: initials of several words, two letters of one; longer on a clash."""
    chosen: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        words = name.split("_")
        initials = "".join(word[0] for word in words if word)
        for text in (initials if len(words) > 1 else name[:2], *(name[:n] for n in range(3, len(name))), name):
            if text not in taken:
                chosen[name] = text
                taken.add(text)
                break
    return chosen


def name_template(algorithm: str, arch: str, specs: Sequence[Mapping[str, Any]]) -> str:
    """A `str.format` template over spec fields: text fields as they are, numbers behind their abbreviation."""
    first = specs[0]
    short = abbreviations(list(first))
    text = [name for name in first if all(isinstance(spec[name], str) for spec in specs)]
    tokens = [f"{{{name}}}" if name in text else f"{short[name]}{{{name}}}" for name in first]
    return f"{algorithm}.{'_'.join(tokens)}.{arch}"
