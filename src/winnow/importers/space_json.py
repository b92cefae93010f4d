"""Spaces as data: a JSON file with the values of every parameter and the rules between them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from winnow.errors import InputError, Place
from winnow.importers.importer import Importer
from winnow.spaces.answers.space import TuningSpace
from winnow.spaces.model.axes import choices
from winnow.spaces.model.rule import Rule
from winnow.strict.document import Document
from winnow.strict.json_reader import load_json
from winnow.strict.schema import StrictModel, validate

_MISSPELLED = 0.87
"""So near are `param` and `constrains` to the keys that are meant, but not notes such as `num_params`."""


class SpaceFile(StrictModel):
    """The keys that make a space. Others are the file's own notes, unless they look like one of these misspelled."""

    model_config = ConfigDict(extra="ignore")

    params: dict[str, list[Any]]
    constraints: list[str]


@dataclass(frozen=True)
class SpaceDefinition:
    """A space and the document that defines it."""

    document: Document
    space: TuningSpace

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors of the space that are raised inside say the line of the file as well."""
        try:
            yield
        except InputError as error:
            raise _with_line(error, self.document) from None


def read_space(path: Path) -> SpaceDefinition:
    """The space that a JSON file defines by `params` (name -> values) and `constraints` (expressions).

    Raises:
        InputError: unreadable or malformed, no values, a value twice, a rule outside the grammar or that reads an
            unknown name; says the line.
    """
    document = load_json(path)
    if not isinstance(document.data, dict):
        raise InputError("not a JSON object", place=document.place(), cure="give it `params` and `constraints`")
    _refuse_misspelled(document)
    content = validate(SpaceFile, document)
    try:
        space = _space(content, document.file)
    except InputError as error:
        raise _with_line(error, document) from None
    return SpaceDefinition(document, space)


def _refuse_misspelled(document: Document) -> None:
    for key in document.data:
        meant = difflib.get_close_matches(key.lower(), SpaceFile.model_fields, n=1, cutoff=_MISSPELLED)
        if meant and key not in SpaceFile.model_fields:
            raise InputError(f'unknown key "{key}"', place=document.place(key), cure=f'did you mean "{meant[0]}"?')


def _space(content: SpaceFile, file: str) -> TuningSpace:
    axes = []
    for name, values in content.params.items():
        with _at(Place(file, None, f"params.{name}")):
            axes.append(choices(name, values))
    rules = [
        Rule.from_expression(
            text, name=f"constraints[{i}]", names=content.params, place=Place(file, None, f"constraints[{i}]")
        )
        for i, text in enumerate(content.constraints)
    ]
    return TuningSpace(tuple(axes), tuple(rules))


@contextmanager
def _at(place: Place) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(error.message, place=place, cure=error.cure) from None


def _with_line(error: InputError, document: Document) -> InputError:
    """The error with the line of its key. Lines are looked up late, as most files have no errors in them."""
    if error.place is None or error.place.line is not None or error.place.key is None:
        return error
    path = _path(error.place.key, document)
    return InputError(error.message, place=document.place(*path), cure=error.cure)


def _path(key: str, document: Document) -> tuple[str | int, ...]:
    index = re.fullmatch(r"constraints\[(\d+)\]", key)
    if index:
        return "constraints", int(index[1])
    return "params", key.removeprefix("params.")


IMPORTER = Importer("json", "space", (".json",), read_space)
"""Winnow's own form of a space: `params` and `constraints`."""
