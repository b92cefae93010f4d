"""Kernel names: one token for each spec field, so that two specs never share a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from winnow.selection.project import varying

MAX_NAME_BYTES = 128

Record = Mapping[str, Any]


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


def token(value: Any) -> Any:
    """A value as names show it: booleans as 0 and 1."""
    return int(value) if isinstance(value, bool) else value


def kernel_names(algorithm: str, arch: str, specs: Sequence[Record], metadata: Sequence[Record]) -> list[str]:
    """A name for each kernel of one algorithm on one arch, from its spec and its metadata.

    Every field is in it: text as it is, numbers after their abbreviation, a knob that is left to the kernel's policy
    with what the policy decides. Where that makes a name longer than `MAX_NAME_BYTES`, fields with one value are not.
    """
    fields = list(dict.fromkeys(name for spec in specs for name in spec))
    named = _filled(algorithm, arch, fields, specs, metadata)
    if max(len(name.encode()) for name in named) <= MAX_NAME_BYTES:
        return named
    differ = varying(specs)
    shorter = [name for name in fields if name in differ or isinstance(specs[0].get(name), str)]
    return _filled(algorithm, arch, shorter, specs, metadata)


def _filled(
    algorithm: str, arch: str, fields: Sequence[str], specs: Sequence[Record], metadata: Sequence[Record]
) -> list[str]:
    short = abbreviations(fields)
    text = {name for name in fields if all(isinstance(spec.get(name), str) for spec in specs)}
    return [
        f"{algorithm}.{'_'.join(_shown(name, '' if name in text else short[name], *pair) for name in fields)}.{arch}"
        for pair in zip(specs, metadata, strict=True)
    ]


def _shown(name: str, prefix: str, spec: Record, metadata: Record) -> str:
    return f"{prefix}{token(spec[name] if name in spec else metadata[name])}"
