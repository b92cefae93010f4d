"""One descriptor file in and out: comments are passed over as loaders do, the text is the one that writers agree on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from winnow.descriptors import documents as descriptors
from winnow.descriptors.documents import DOCUMENTS
from winnow.errors import InputError, Place, nearest
from winnow.files import read_text
from winnow.identity import pretty_json
from winnow.strict.document import Document
from winnow.strict.json_reader import parse_json, without_comments
from winnow.strict.schema import StrictModel, validate


def kind_of(path: Path) -> str | None:
    """The type token of a descriptor's file name (`<stem>.<type>.json`); None where there is none."""
    parts = path.name.split(".")
    return parts[-2] if len(parts) > 2 and parts[-1] == "json" and parts[-2] in DOCUMENTS else None


def load_descriptor(path: Path) -> Document:
    """The plain data of a descriptor file. Comments are allowed; everything else is strict JSON.

    Raises:
        InputError: unreadable, malformed, a duplicate key, no object, or no version.
    """
    return parse_descriptor(read_text(path), path)


def parse_descriptor(text: str, path: Path) -> Document:
    """`load_descriptor` for text that is already in memory; `path` is the name that errors show."""
    document = parse_json(without_comments(text), str(path))
    if not isinstance(document.data, dict):
        raise InputError("not a descriptor: the file holds no JSON object", place=Place(str(path)))
    if "version" not in document.data:
        raise InputError('key "version" is missing', place=Place(str(path)), cure=f'state "{descriptors.VERSION}"')
    return document


def read_descriptor(path: Path) -> descriptors.Document:
    """The document of one file by itself; no reference of it is looked up.

    Raises:
        InputError: no type token in the file's name, or what `load_descriptor` and the schema refuse.
    """
    kind = kind_of(path)
    if kind is None:
        raise InputError(
            "not a descriptor: its name is not <stem>.<type>.json",
            place=Place(str(path)),
            cure=nearest(path.name.split(".")[-2] if path.name.count(".") > 1 else "", DOCUMENTS),
        )
    return validate(DOCUMENTS[kind], load_descriptor(path))


def plain_record(document: StrictModel) -> dict[str, Any]:
    """A descriptor as the plain data of its file, in the schema's key order; keys that are not set are left out."""
    return document.model_dump(by_alias=True, exclude_none=True)


def document_text(document: StrictModel, *, standalone: Mapping[str, str] | None = None) -> str:
    """A descriptor's text: two-space JSON. Of a pack's kernels, those in `standalone` (by id) are referred to."""
    record = plain_record(document)
    if standalone and "kernelDescriptors" in record:
        kernels = record["kernelDescriptors"]
        record["kernelDescriptors"] = [kernel["id"] if kernel["id"] in standalone else kernel for kernel in kernels]
    return pretty_json(record)


def descriptor_record(document: StrictModel) -> dict[str, Any]:
    """A descriptor as plain data, as it stands in its file, without its provenance."""
    return document.model_dump(by_alias=True, exclude_none=True, exclude={"provenance"})
