"""The one strict loader: YAML 1.2 and JSON with positions; duplicate and unknown keys are errors with a place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from winnow.errors import InputError, Place, nearest
from winnow.files import read_text

Key = str | int
Path_ = tuple[Key, ...]


class StrictModel(BaseModel):
    """Base of every schema: frozen, no unknown keys, no silent conversion between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True)
class Document:
    """A loaded file: plain data, and where each key path of it stands (line numbers from 1)."""

    file: str
    data: Any
    lines: Mapping[Path_, int]

    def place(self, *path: Key) -> Place:
        """The place of a key path; where the path itself is not in the file, of its nearest parent."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        return Place(self.file, self.lines.get(known), key_text(path))


def key_text(path: Iterable[Key]) -> str:
    """`("a", 0, "b")` as `a[0].b`."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def load_yaml(path: Path) -> Document:
    """Read one YAML 1.2 document (`.gz` accepted): `on`, `off`, `yes` and `no` are strings.

    Raises:
        InputError: unreadable, malformed, a duplicate or non-string key, more than one document.
    """
    return parse_yaml(read_text(path), str(path))


def load_json(path: Path) -> Document:
    """Read one JSON document; duplicate keys and NaN are refused.

    Raises:
        InputError: unreadable, malformed or with a duplicate key.
    """
    return parse_json(read_text(path), str(path))


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
    try:
        data = json.loads(text, object_pairs_hook=closed, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"malformed JSON: {error.msg}", place=Place(file, error.lineno)) from None
    except ValueError:
        raise InputError("malformed JSON: a number has too many digits", place=Place(file)) from None
    except RecursionError:
        raise InputError("malformed JSON: nested too deeply", place=Place(file)) from None
    return Document(file, data, _LazyLines(text, file))


def _as_yaml(json_text: str) -> str:
    """JSON is YAML but for tabs between tokens; inside its strings there are none."""
    return json_text.replace("\t", " ")


def _duplicate_in_json(key: str, text: str, file: str) -> InputError:
    """The error that reading as YAML gives, because it knows lines; a plain one where that finds another fault."""
    try:
        parse_yaml(_as_yaml(text), file)
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
                self._found = parse_yaml(_as_yaml(self._text), self._file).lines
            except InputError:
                self._found = {}
        return self._found

    def __getitem__(self, path: Path_) -> int:
        return self._lines()[path]

    def __iter__(self) -> Any:
        return iter(self._lines())

    def __len__(self) -> int:
        return len(self._lines())


M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], document: Document, *at: Key) -> M:
    """The part of `document` at the key path `at`, as a `model`.

    Raises:
        InputError: the first thing that does not fit, with its line, its key, its value and the cure.
    """
    data = document.data
    for key in at:
        data = data[key]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A misspelt key shows as a missing one too; the unknown spelling is the one that the user can see.
        first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
        path = (*at, *_real_path(data, first))
        raise InputError(
            _explain(first, path), place=document.place(*path), cure=_cure(model, first, path, data)
        ) from None


def _real_path(data: Any, first: Any) -> Path_:
    """pydantic puts names of union members into a location; keep the keys that the file really has."""
    path: list[Key] = []
    for key in first["loc"]:
        inside = isinstance(data, dict) and key in data
        inside = inside or (isinstance(data, list) and isinstance(key, int) and key < len(data))
        if inside:
            data = data[key]
            path.append(key)
    return (*path, first["loc"][-1]) if first["type"] == "missing" else tuple(path)


def _explain(first: Any, path: Path_) -> str:
    kind, value = first["type"], first.get("input")
    if kind == "extra_forbidden":
        return f'unknown key "{path[-1]}"'
    if kind == "missing":
        return f'key "{path[-1]}" is missing'
    message = first["msg"].removeprefix("Value error, ")
    shown = repr(value)
    return f"{message} (value: {shown if len(shown) <= 80 else shown[:77] + '...'})"


def _cure(model: type[BaseModel], first: Any, path: Path_, data: Any) -> str | None:
    if first["type"] != "extra_forbidden":
        return None
    owner = _model_at(model, first["loc"][:-1])
    return None if owner is None else nearest(str(path[-1]), owner.model_fields)


def _model_at(model: type[BaseModel], loc: tuple[Key, ...]) -> type[BaseModel] | None:
    """The model whose fields stand at `loc`; None where a union leaves more than one. Indices choose nothing."""
    models = [model]
    for key in loc:
        named = [m for m in models if m.__name__ == key]
        fields = [m.model_fields[str(key)] for m in models if str(key) in m.model_fields]
        if named:
            models = named
        elif fields:
            inside = [t for field in fields for t in (field.annotation, *_type_arguments(field.annotation))]
            models = [t for t in inside if isinstance(t, type) and issubclass(t, BaseModel)]
    return models[0] if len(models) == 1 else None


def _type_arguments(annotation: Any) -> list[Any]:
    found: list[Any] = []
    for argument in getattr(annotation, "__args__", ()):
        found += [argument, *_type_arguments(argument)]
    return found
