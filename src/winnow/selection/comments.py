"""A person's comments in a selection outlive its being written anew: each goes where its item went."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.tokens import CommentToken

from winnow.errors import InputError, Place
from winnow.identity import canonical_json
from winnow.strict.document import Document, Key
from winnow.strict.yaml_reader import parse_yaml

_Anchor = tuple[str, ...]


@dataclass(frozen=True)
class _Comment:
    """One comment: its text with the `#`, its line, and whether content stands before it on that line."""

    text: str
    line: int
    trailing: bool


def keep_comments(old: str, new: str, file: str) -> tuple[str, list[str]]:
    """`new` with the comments of `old` at the items that survived, and the comments whose item is gone.

    A comment belongs to the item on its line, or else to the next one. Items of a list are known by their name or
    their content, not by their place.

    Raises:
        InputError: `old` is not YAML.
    """
    comments = _comments(old)
    if not comments:
        return new, []
    before, after = parse_yaml(old, file), parse_yaml(new, file)
    owners = _anchors(before)
    places: dict[_Anchor, int] = {}
    for line, known in _anchors(after):
        places.setdefault(known, line)
    above: dict[int, list[str]] = {}
    beside: dict[int, list[str]] = {}
    tail: list[str] = []
    lost: list[str] = []
    for comment in comments:
        anchor = _owner(owners, comment)
        at = None if anchor is None else places.get(anchor, _similar(anchor, places))
        if anchor is None:
            tail.append(comment.text)
        elif at is None:
            lost.append(comment.text)
        else:
            (beside if comment.trailing else above).setdefault(at, []).append(comment.text)
    text = _woven(new, above, beside, tail)
    if parse_yaml(text, file).data != after.data:
        raise InputError("its comments cannot be kept", place=Place(file), cure="take them out, and enumerate again")
    return text, lost


def _comments(text: str) -> list[_Comment]:
    """Every comment of a YAML text, in order."""
    lines = text.splitlines()
    found: dict[int, _Comment] = {}
    for token in YAML().scan(text):
        for part in _flat(getattr(token, "_comment", None)):
            # Where empty lines come first, the mark is after some of them: the text itself says which line it is.
            number = max(part.start_mark.line - 1, 0)
            for comment in filter(None, map(str.strip, part.value.splitlines())):
                while number in found or not lines[number].rstrip().endswith(comment):
                    number += 1
                trailing = bool(lines[number].rstrip().removesuffix(comment).strip())
                found[number] = _Comment(comment, number + 1, trailing)
    return [found[number] for number in sorted(found)]


def _flat(comment: Any) -> list[CommentToken]:
    if isinstance(comment, CommentToken):
        return [comment]
    return [token for part in comment or () for token in _flat(part)]


def _anchors(document: Document) -> list[tuple[int, _Anchor]]:
    """(line, identity) of every item, the outermost of a line first."""
    ordered = sorted(document.lines.items(), key=lambda item: (item[1], len(item[0])))
    return [(line, _identity(document.data, path)) for path, line in ordered if path]


def _identity(data: Any, path: Sequence[Key]) -> _Anchor:
    """What an item is known by, wherever it stands. An arm is the same in whichever knob set it is.

    Shapes and arms are known with the defaults of their group, for a field with one value stands there instead.
    """
    names: list[str] = []
    defaults: Mapping[str, Any] = {}
    for i, key in enumerate(path):
        data = data[key]
        if isinstance(key, str):
            in_set = i + 1 < len(path) and i > 0 and path[i - 1] == "knob_sets"
            names.append("*" if in_set else key)
        elif isinstance(data, Mapping) and isinstance(data.get("name"), str) and path[i - 1] != "variants":
            names.append(data["name"])
        elif path[i - 1] == "variants":
            names.append(str(key))
            defaults = data.get("spec_defaults", {}) if isinstance(data, Mapping) else {}
        else:
            own = {**defaults, **{k: v for k, v in data.items() if k != "knobs"}} if isinstance(data, Mapping) else data
            names.append(canonical_json(own))
    return tuple(names)


def _similar(anchor: _Anchor, places: Mapping[_Anchor, int]) -> int | None:
    """The line of the one item that says less or more than this one and contradicts it in nothing.

    Where fewer kernels are left, more of their fields have one value, and stand in `spec_defaults` instead.
    """
    found = {line for other, line in places.items() if len(other) == len(anchor) and _agree(anchor, other)}
    return found.pop() if len(found) == 1 else None


def _agree(anchor: _Anchor, other: _Anchor) -> bool:
    for ours, theirs in zip(anchor, other, strict=True):
        if ours == theirs:
            continue
        if not (ours.startswith("{") and theirs.startswith("{")):
            return False
        a, b = json.loads(ours), json.loads(theirs)
        shared = a.keys() & b.keys()
        if not (shared and shared in (a.keys(), b.keys()) and all(a[name] == b[name] for name in shared)):
            return False
    return True


def _owner(anchors: Sequence[tuple[int, _Anchor]], comment: _Comment) -> _Anchor | None:
    """The item that a comment speaks of; None for one after the last item."""
    if not comment.trailing:
        return next((anchor for line, anchor in anchors if line > comment.line), None)
    begun = [(line, anchor) for line, anchor in anchors if line <= comment.line]
    return next(anchor for line, anchor in begun if line == begun[-1][0])


def _woven(text: str, above: Mapping[int, list[str]], beside: Mapping[int, list[str]], tail: Sequence[str]) -> str:
    woven: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        indent = line[: len(line) - len(line.lstrip())]
        woven += [indent + comment for comment in above.get(number, ())]
        woven.append("  ".join([line, *beside.get(number, ())]))
    return "\n".join([*woven, *tail]) + "\n"
