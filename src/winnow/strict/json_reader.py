"""Strict JSON: duplicate keys and NaN are errors; lines are looked up only when an error needs them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from winnow.errors import InputError, Place
from winnow.files import read_text
from winnow.strict.document import Document, Path_

_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def load_json(path: Path) -> Document:
    """Read one JSON document; duplicate keys and NaN are refused.

    Raises:
        InputError: unreadable, malformed or with a duplicate key.
    """
    return parse_json(read_text(path), str(path))


def without_comments(text: str) -> str:
    """JSON text with each `//` and `/* */` comment as blanks, so that positions in errors stay true."""
    return _STRING_OR_COMMENT.sub(_blanked, text) if "//" in text or "/*" in text else text


def _blanked(found: re.Match[str]) -> str:
    text = found.group()
    return text if text.startswith('"') else re.sub(r"[^\n]", " ", text)


def parse_json(text: str, file: str) -> Document:
    """`load_json` for text that is already in memory. Lines are looked up only when an error needs them."""

    def closed(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise _duplicate_in_json(twice, text, file)
        return mapping

    def no_constant(word: str) -> float:
        raise InputError(f"{word} is not JSON", place=Place(file))

    if text.startswith("\ufeff"):
        raise InputError(
            "malformed JSON: it begins with a byte-order mark",
            place=Place(file, 1),
            cure='save it as UTF-8 without a byte-order mark ("UTF-8", not "UTF-8 with BOM")',
        )
    if not text.strip():
        raise InputError("the file is empty", place=Place(file))
    try:
        data = json.loads(text, object_pairs_hook=closed, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"malformed JSON: {error.msg}", place=Place(file, error.lineno)) from None
    except ValueError:
        raise InputError("malformed JSON: a number has too many digits", place=Place(file)) from None
    except RecursionError:
        raise InputError("malformed JSON: nested too deeply", place=Place(file)) from None
    return Document(file, data, _LazyLines(text, file))


def _as_yaml(json_text: str, file: str) -> Document:
    """The text read as YAML, which knows lines. JSON is YAML but for tabs between tokens; in its strings are none.

    Raises ImportError where no YAML reader is installed: a program that only loads a packed tree needs none.
    """
    from winnow.strict.yaml_reader import parse_yaml

    return parse_yaml(json_text.replace("\t", " "), file)


def _duplicate_in_json(key: str, text: str, file: str) -> InputError:
    """The error that reading as YAML gives, because it knows lines; a plain one where that finds another fault."""
    try:
        _as_yaml(text, file)
    except ImportError:
        pass
    except InputError as error:
        if error.message.startswith("duplicate key"):
            return error
    return InputError(f'duplicate key "{key}"', place=Place(file), cure="keep one of the two")


class _LazyLines(Mapping[Path_, int]):
    """Line numbers of a JSON text, found by reading it once more as YAML, of which JSON is a subset."""

    def __init__(self, text: str, file: str) -> None:
        self._text, self._file = text, file
        self._found: Mapping[Path_, int] | None = None

    def _lines(self) -> Mapping[Path_, int]:
        if self._found is None:
            try:
                self._found = _as_yaml(self._text, self._file).lines
            except (ImportError, InputError):
                self._found = {}
        return self._found

    def __getitem__(self, path: Path_) -> int:
        return self._lines()[path]

    def __iter__(self) -> Iterator[Path_]:
        return iter(self._lines())

    def __len__(self) -> int:
        return len(self._lines())
