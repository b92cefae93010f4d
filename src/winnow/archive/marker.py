"""The marker of a finished shard: the digest of every file in it, so that any damaged byte is found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from winnow.errors import InputError, Place
from winnow.identity import pretty_json, sha256_hex
from winnow.strict.json_reader import parse_json
from winnow.strict.schema import StrictModel, validate

MARKER = "hkp-packed.marker"


class _Marker(StrictModel):
    version: Literal["1.0"]
    arch: str
    files: dict[str, str]


def marker_text(arch: str, files: Mapping[str, bytes]) -> str:
    """The marker for a shard of `arch` with these files (by path relative to the shard)."""
    digests = {name: sha256_hex(files[name]) for name in sorted(files)}
    return pretty_json({"version": "1.0", "arch": arch, "files": digests})


def read_marked(shard: Path, arch: str) -> tuple[dict[str, bytes], dict[str, str]]:
    """Every file of a shard, and the digest that the marker demands of each.

    The digests are not compared here: a caller that knows what a file holds can say better what is wrong with it.

    Raises:
        InputError: no marker, a marker that was changed or is of another arch, a file too many or too few.
    """
    path = shard / MARKER
    if not path.is_file():
        raise InputError(
            f"no {MARKER}: this is not a shard that a pack finished",
            place=Place(str(shard)),
            cure=f"run `winnow pack --arch {arch}`",
        )
    raw = _bytes(path)
    marker = validate(_Marker, parse_json(raw.decode("utf-8", "replace"), str(path)))
    # Only one spelling of a marker is written, so a byte that changes nothing in its meaning is found too.
    canonical = pretty_json({**marker.model_dump(), "files": dict(sorted(marker.files.items()))})
    if raw != canonical.encode():
        raise InputError("the marker is not as it was written", place=Place(str(path)), cure="pack the catalog again")
    if marker.arch != arch:
        raise InputError(f"the marker is of {marker.arch}, not {arch}", place=Place(str(path)))
    found = {
        file.relative_to(shard).as_posix(): file
        for file in sorted(shard.rglob("*"))
        if not file.is_dir() and file != path
    }
    for name in sorted(set(found) ^ set(marker.files)):
        problem = "the shard lacks this file" if name in marker.files else "this file is not one that was packed"
        raise InputError(problem, place=Place(str(shard / name)), cure="pack the catalog again")
    return {name: _bytes(file) for name, file in found.items()}, marker.files


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=Place(str(file))) from None


def check_digest(expected: str, data: bytes, place: Place, what: str = "") -> None:
    """Compare one digest.

    Raises:
        InputError: `digest mismatch: expected … found …`, with `what` in front.
    """
    found = sha256_hex(data)
    if found != expected:
        raise mismatch(expected, found, place, what)


def mismatch(expected: str, found: str, place: Place, what: str = "", more: str = "") -> InputError:
    """The error for data that is not what it was."""
    return InputError(
        f"{what}{': ' if what else ''}digest mismatch: expected {expected} found {found}{more}",
        place=place,
        cure="pack the catalog again; nothing was loaded",
    )
