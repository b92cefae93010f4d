"""A mapping of a document, read key by key without a schema: what is not of its type is an error with a place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from winnow.errors import InputError, nearest
from winnow.strict.document import Document, Key, Path_

_NAMES: Mapping[type, str] = {str: "a string", int: "an integer", dict: "a mapping", list: "a list"}
_SHOWN = 80


@dataclass(frozen=True)
class Record:
    """The mapping at `path` of a document. Readers take a value of exactly their type; nothing is converted.

    A key that may be left out may be null too.
    """

    document: Document
    path: Path_
    data: Mapping[str, Any]

    def only(self, known: Collection[str]) -> Record:
        """This record.

        Raises:
            InputError: it has a key that is not in `known`.
        """
        for key in self.data:
            if key not in known:
                raise self.problem(f'unknown key "{key}"', key, cure=nearest(key, known))
        return self

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        return self.data.get(key) is not None

    def text(self, key: str) -> str:
        """The string of a key. Raises InputError where there is none."""
        return str(self._of(key, str))

    def text_if_any(self, key: str) -> str | None:
        """The string of a key, None where the key is left out. Raises InputError where it is something else."""
        return self.text(key) if self.has(key) else None

    def integer(self, key: str) -> int:
        """The integer of a key. Raises InputError where there is none."""
        return int(self._of(key, int))

    def mapping(self, key: str) -> dict[str, Any]:
        """The mapping of a key as plain data. Raises InputError where there is none."""
        found: dict[str, Any] = self._of(key, dict)
        return found

    def record(self, key: str) -> Record:
        """The mapping of a key as a record. Raises InputError where there is none."""
        return Record(self.document, (*self.path, key), self.mapping(key))

    def items(self, key: str) -> list[Any]:
        """The list of a key. Raises InputError where there is none."""
        found: list[Any] = self._of(key, list)
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of strings of a key. Raises InputError where there is none."""
        found = self.items(key)
        for i, item in enumerate(found):
            if type(item) is not str:
                raise self.unfit(item, "a string", key, i)
        return tuple(found)

    def records(self, key: str) -> Iterator[Record]:
        """The list of mappings of a key. Raises InputError where there is none."""
        for i, item in enumerate(self.items(key)):
            if type(item) is not dict:
                raise self.unfit(item, "a mapping", key, i)
            yield Record(self.document, (*self.path, key, i), item)

    def unfit(self, value: object, wanted: str, *at: Key) -> InputError:
        """The error for a value below this record that is not what was wanted."""
        shown = repr(value)
        shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
        return self.problem(f"not {wanted} (value: {shown})", *at)

    def problem(self, message: str, *at: Key, cure: str | None = None) -> InputError:
        """The error for what stands at a key path below this record."""
        return InputError(message, place=self.document.place(*self.path, *at), cure=cure)

    def _of(self, key: str, kind: type) -> Any:
        if key not in self.data:
            raise self.problem(f'key "{key}" is missing', key)
        value = self.data[key]
        if type(value) is not kind:
            raise self.unfit(value, _NAMES[kind], key)
        return value


def record_of(document: Document, *at: str) -> Record:
    """The mapping at a key path of a document, whose parents are mappings that have it.

    Raises:
        InputError: it is not a mapping.
    """
    data = document.data
    for key in at:
        data = data[key]
    if type(data) is not dict:
        raise Record(document, at, {}).unfit(data, "a mapping")
    return Record(document, at, data)
