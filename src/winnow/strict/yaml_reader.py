"""Strict YAML 1.2 with positions: duplicate keys and keys that are not strings are errors with a place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from winnow.errors import InputError, Place
from winnow.files import read_text
from winnow.strict.document import Document, Key, Path_, key_text

_MOST_REPEATED = 100_000


def load_yaml(path: Path) -> Document:
    """Read one YAML 1.2 document (`.gz` accepted): `on`, `off`, `yes` and `no` are strings.

    Raises:
        InputError: unreadable, malformed, a duplicate or non-string key, more than one document.
    """
    return parse_yaml(read_text(path), str(path))


def parse_yaml(text: str, file: str) -> Document:
    """`load_yaml` for text that is already in memory; `file` is the name that errors show."""
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        problem = error.problem or error.context or "not YAML"
        raise InputError(f"malformed YAML: {problem}", place=Place(file, line)) from None
    except Exception as error:  # noqa: BLE001 - the reader raises its own types for bad characters
        raise InputError(f"malformed YAML: {_first_line(error)}", place=Place(file)) from None
    if root is None:
        raise InputError("the file is empty", place=Place(file))
    reading = _Reading(file)
    return Document(file, reading.value(root, ()), reading.lines)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


class _Reading:
    """The values of one document; `lines` is filled with the place of each."""

    def __init__(self, file: str) -> None:
        self.lines: dict[Path_, int] = {}
        self._file = file
        self._open: set[int] = set()
        self._known: set[int] = set()
        self._repeated = 0

    def value(self, node: Node, path: Path_) -> Any:
        """The value of a node. Raises InputError for a bad key, and where aliases lead in a circle or too far."""
        self._count(node, path)
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, ScalarNode):
            return _scalar(node, path, self._file)
        self._open.add(id(node))
        try:
            if isinstance(node, SequenceNode):
                return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]
            if not isinstance(node, MappingNode):
                raise InputError("unknown kind of node", place=self._at(node))
            return self._mapping(node, path)
        finally:
            self._open.remove(id(node))

    def _mapping(self, node: MappingNode, path: Path_) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = _scalar(key_node, path, self._file) if isinstance(key_node, ScalarNode) else None
            if not isinstance(key, str):
                shown = key_node.value if isinstance(key_node, ScalarNode) else "a collection"
                raise InputError(
                    f"key {shown!r} is not a string", place=self._at(key_node, *path), cure="quote the key"
                )
            if key in mapping:
                first = self.lines[(*path, key)]
                raise InputError(
                    f"duplicate key (first on line {first})",
                    place=self._at(key_node, *path, key),
                    cure="keep one of the two",
                )
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            mapping[key] = self.value(value_node, (*path, key))
        return mapping

    def _count(self, node: Node, path: Path_) -> None:
        """Count what aliases repeat: a few lines of them can stand for more than any memory holds."""
        if id(node) in self._open:
            raise InputError(
                "an alias stands for something that it lies in", place=self._where(path), cure="write the value out"
            )
        self._repeated += id(node) in self._known
        self._known.add(id(node))
        if self._repeated > _MOST_REPEATED:
            raise InputError(
                f"aliases repeat more than {_MOST_REPEATED:,} values",
                place=self._where(path),
                cure="use fewer aliases, or write out what differs",
            )

    def _where(self, path: Path_) -> Place:
        """The place of an alias: its node's own mark is that of the anchor."""
        return Document(self._file, None, self.lines).place(*path)

    def _at(self, node: Node, *path: Key) -> Place:
        return Place(self._file, node.start_mark.line + 1, key_text(path))


_INT = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def _scalar(node: ScalarNode, path: Path_, file: str) -> Any:
    """YAML 1.2 core schema, decided here so that no library's version table can turn `off` into False."""
    text: str = node.value
    if node.style is not None:
        return text
    if _SPECIAL_FLOAT.fullmatch(text):
        raise InputError(f"{text} is not a finite number", place=Place(file, node.start_mark.line + 1, key_text(path)))
    if text.lower() in _WORDS and text in {*_WORDS, "True", "False", "Null", "TRUE", "FALSE", "NULL"}:
        return _WORDS[text.lower()]
    if _INT.fullmatch(text):
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
