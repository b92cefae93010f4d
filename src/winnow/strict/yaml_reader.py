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
from winnow.strict.document import Document, Path_, key_text


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
    lines: dict[Path_, int] = {}
    return Document(file, _construct(root, (), lines, file), lines)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _construct(node: Node, path: Path_, lines: dict[Path_, int], file: str) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, ScalarNode):
        return _scalar(node, path, file)
    if isinstance(node, SequenceNode):
        return [_construct(item, (*path, i), lines, file) for i, item in enumerate(node.value)]
    if not isinstance(node, MappingNode):
        raise InputError("unknown kind of node", place=Place(file, node.start_mark.line + 1))
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = _scalar(key_node, path, file) if isinstance(key_node, ScalarNode) else None
        if not isinstance(key, str):
            shown = key_node.value if isinstance(key_node, ScalarNode) else "a collection"
            raise InputError(
                f"key {shown!r} is not a string",
                place=Place(file, line, key_text(path)),
                cure="quote the key",
            )
        if key in mapping:
            first = lines[(*path, key)]
            raise InputError(
                f"duplicate key (first on line {first})",
                place=Place(file, line, key_text((*path, key))),
                cure="keep one of the two",
            )
        lines[(*path, key)] = line
        mapping[key] = _construct(value_node, (*path, key), lines, file)
    return mapping


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
