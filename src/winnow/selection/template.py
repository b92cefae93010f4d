"""The name template of a list of kernel names: which parts of a name are values of which field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_PIECES = re.compile(r"[._-]|[^._-]+")


@dataclass(frozen=True)
class Template:
    """A `str.format` text, and for each kernel its tag (empty where the name has none)."""

    text: str
    tags: tuple[str, ...]


def shown(value: Any) -> str:
    """A value as names show it: booleans as 0 and 1."""
    return str(int(value) if isinstance(value, bool) else value)


def infer_template(names: Sequence[str], values: Sequence[Mapping[str, Any]]) -> Template | None:
    """The template that gives every name from its kernel's values, or None where there is none.

    Names may differ in one optional run of pieces, always at the same position: that run becomes the tag.
    """
    pieces = [_PIECES.findall(name) for name in names]
    shortest = min(map(len, pieces))
    if all(len(own) == shortest for own in pieces):
        text = _text(pieces, values)
        return None if text is None else Template(text, ("",) * len(names))
    for position in range(shortest, 0, -1):
        tagged = _with_tag(pieces, shortest, position)
        if tagged is None:
            continue
        head = _text([own[:position] for own in pieces], values)
        tail = _text([own[len(own) - shortest + position :] for own in pieces], values)
        if head is not None and tail is not None:
            return Template(f"{head}_{{tag}}{tail}", tagged)
    return None


def _with_tag(pieces: Sequence[list[str]], shortest: int, position: int) -> tuple[str, ...] | None:
    """Each kernel's tag if its extra pieces stand after `position` and start with an underscore."""
    tags = []
    for own in pieces:
        extra = own[position : position + len(own) - shortest]
        if extra and extra[0] != "_":
            return None
        tags.append("".join(extra[1:]))
    return tuple(tags)


def _text(pieces: Sequence[Sequence[str]], values: Sequence[Mapping[str, Any]]) -> str | None:
    parts = [_piece([own[i] for own in pieces], values) for i in range(len(pieces[0]))]
    return None if any(part is None for part in parts) else "".join(str(part) for part in parts)


def _piece(texts: Sequence[str], values: Sequence[Mapping[str, Any]]) -> str | None:
    first = texts[0]
    if all(text == first for text in texts):
        return first.replace("{", "{{").replace("}", "}}")
    for field, value in values[0].items():
        if not all(field in own for own in values):
            continue
        token = shown(value)
        at = first.rfind(token) if token else -1
        if at < 0:
            continue
        prefix, suffix = first[:at], first[at + len(token) :]
        if all(text == prefix + shown(own[field]) + suffix for text, own in zip(texts, values, strict=True)):
            return f"{prefix}{{{field}}}{suffix}"
    return None
