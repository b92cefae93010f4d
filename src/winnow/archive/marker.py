"""The marker of a finished shard: the digest of every file in it, so that any damaged byte is found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from winnow.errors import InputError, Place
from winnow.identity import pretty_json, sha256_hex
from winnow.strict.json_reader import parse_json
from winnow.strict.record import record_of

MARKER = "hkp-packed.marker"
_VERSION = "1.0"


def marker_text(arch: str, files: Mapping[str, bytes]) -> str:
    """The marker for a shard of `arch` with these files (by path relative to the shard)."""
    digests = {name: sha256_hex(files[name]) for name in sorted(files)}
    return pretty_json({"version": _VERSION, "arch": arch, "files": digests})


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
    marker = record_of(parse_json(raw.decode("utf-8", "replace"), str(path))).only(("version", "arch", "files"))
    if marker.text("version") != _VERSION:
        raise marker.unfit(marker.data["version"], f'"{_VERSION}"', "version")
    stated, listed = marker.text("arch"), marker.record("files")
    digests = {name: listed.text(name) for name in listed.data}
    # Only one spelling of a marker is written, so a byte that changes nothing in its meaning is found too.
    canonical = pretty_json({"version": _VERSION, "arch": stated, "files": dict(sorted(digests.items()))})
    if raw != canonical.encode():
        raise InputError("the marker is not as it was written", place=Place(str(path)), cure="pack the catalog again")
    if stated != arch:
        raise InputError(f"the marker is of {stated}, not {arch}", place=Place(str(path)))
    found = {
        file.relative_to(shard).as_posix(): file
        for file in sorted(shard.rglob("*"))
        if not file.is_dir() and file != path
    }
    for name in sorted(set(found) ^ set(digests)):
        problem = "the shard lacks this file" if name in digests else "this file is not one that was packed"
        raise InputError(problem, place=Place(str(shard / name)), cure="pack the catalog again")
    return {name: _bytes(file) for name, file in found.items()}, digests


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
