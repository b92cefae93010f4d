"""Every descriptor file of a shard, each sound in itself as far as its head goes, by type, file and id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from winnow.errors import InputError, Place
from winnow.strict.json_reader import parse_json, without_comments
from winnow.strict.record import Record, record_of

REPACK = "pack the catalog again"
"""The cure for a descriptor that no pack writes so."""

_KINDS = ("kmd", "ued", "umd", "udd", "uhd", "kdp", "ukd")
_VERSION = "1.0"


@dataclass(frozen=True)
class Descriptors:
    """Every descriptor of a tree by type and by file."""

    folder: Path
    by_kind: Mapping[str, dict[str, Record]]

    def only_one(self, kind: str) -> Mapping[str, Record]:
        """The one descriptor of a type. Raises InputError where there is none, or another."""
        if len(self.by_kind[kind]) != 1:
            raise InputError(
                f"{len(self.by_kind[kind])} .{kind}.json files, expected one",
                place=Place(str(self.folder)),
                cure=f"a shard holds one engine; {REPACK}",
            )
        return self.by_kind[kind]

    @cached_property
    def by_id(self) -> Mapping[str, Mapping[str, Record]]:
        """The same by type and by id."""
        return {kind: {one.text("id"): one for one in group.values()} for kind, group in self.by_kind.items()}

    def check_reference(self, owner: Record, key: str, kind: str) -> None:
        """Raises InputError where a key does not name a descriptor of the type."""
        self.check_named(owner, owner.text(key), kind, key)

    def check_named(self, owner: Record, sought: str, kind: str, *at: str | int) -> None:
        """Raises InputError where no descriptor of the type has the id that stands at a key path."""
        if sought not in self.by_id[kind]:
            raise owner.problem(f"{sought} names no {kind} of this shard", *at, cure=REPACK)


def load_descriptors(folder: Path, files: Mapping[str, bytes]) -> Descriptors:
    """The descriptors among a shard's files (by name relative to `folder`); hidden files are passed over.

    Raises:
        InputError: one is not UTF-8, not JSON, not a mapping, of another version, or lacks its id or its name.
    """
    found = Descriptors(folder, {kind: {} for kind in _KINDS})
    for name, raw in files.items():
        kind = _kind_of(name)
        if kind is not None:
            found.by_kind[kind][name] = _loaded(raw, str(folder / name))
    return found


def _kind_of(name: str) -> str | None:
    *folders, file = name.split("/")
    parts = file.split(".")
    hidden = any(part.startswith(".") for part in (*folders, file))
    return parts[-2] if not hidden and len(parts) > 2 and parts[-1] == "json" and parts[-2] in _KINDS else None


def _loaded(raw: bytes, file: str) -> Record:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error.reason}", place=Place(file)) from None
    record = record_of(parse_json(without_comments(text), file))
    check_version(record)
    record.text("id")
    record.text("name")
    return record


def check_version(record: Record) -> None:
    """Raises InputError where a descriptor is not of the version that this reader knows."""
    if record.text("version") != _VERSION:
        raise record.unfit(record.data["version"], f'"{_VERSION}"', "version")
