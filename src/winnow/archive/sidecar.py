"""The provenance sidecar of a packed kernel pack: where each kernel came from, apart from what loaders read."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from winnow.errors import InputError, Place
from winnow.identity import canonical_json, gzipped, record_digest
from winnow.strict.json_reader import parse_json
from winnow.strict.record import Record, record_of

MAX_BYTES = 64 << 20

Bound = Literal["ukd_sha256", "kernel_source_sha256"]
_BOUND: tuple[Bound, ...] = get_args(Bound)


@dataclass(frozen=True)
class SidecarEntry:
    """One kernel's provenance and the digest that binds it: over the whole descriptor, or (older) its source."""

    bound: Bound
    digest: str
    provenance: Mapping[str, Any]

    def belongs_to(self, record: Mapping[str, Any]) -> bool:
        """True where a kernel's descriptor, as it stands in its file, is the one that this entry was written for."""
        bound = _without_provenance(record) if self.bound == "ukd_sha256" else record["kernel_source"]
        return self.digest == record_digest(bound)


def _without_provenance(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "provenance"}


def sidecar_name(kdp_file: str) -> str:
    """The sidecar's file name beside `<stem>.kdp.json`."""
    return kdp_file.removesuffix(".json") + ".provenance.json.gz"


def write_sidecar(kdp_id: str, entries: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> bytes:
    """The sidecar's bytes for `{kernel id: (descriptor as its file has it, provenance)}`; no clock in them."""
    document = {
        "version": "1.0",
        "kdp_id": kdp_id,
        "entries": {
            ukd_id: {"ukd_sha256": record_digest(_without_provenance(record)), "provenance": dict(provenance)}
            for ukd_id, (record, provenance) in entries.items()
        },
    }
    return gzipped(canonical_json(document, ensure_ascii=False).encode())


def read_sidecar(path: Path) -> dict[str, SidecarEntry]:
    """A sidecar's entries by kernel id, in either of its two forms.

    Raises:
        InputError: missing, not gzip, larger than 64 MiB, malformed, or of another major version.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raw = None
    except OSError as error:
        raise InputError(f"cannot be read: {error}", place=Place(str(path)), cure="pack the catalog again") from None
    return parse_sidecar(raw, path)


def parse_sidecar(raw: bytes | None, path: Path) -> dict[str, SidecarEntry]:
    """`read_sidecar` for bytes that are already in memory, None for a file that does not exist.

    Raises what `read_sidecar` raises.
    """
    sidecar = record_of(parse_json(_decompressed(raw, path), str(path))).only(("version", "kdp_id", "entries"))
    if sidecar.text("version").partition(".")[0] != "1":
        raise sidecar.problem(
            f"version {sidecar.text('version')}, this reader knows 1", "version", cure="update winnow"
        )
    if "kdp_id" not in sidecar.data or sidecar.has("kdp_id"):
        sidecar.text("kdp_id")
    entries = sidecar.record("entries")
    return {ukd_id: _entry(entries.record(ukd_id)) for ukd_id in entries.data}


def _entry(entry: Record) -> SidecarEntry:
    entry.only((*_BOUND, "provenance"))
    stated = [bound for bound in _BOUND if entry.has(bound)]
    if len(stated) != 1:
        raise entry.problem(f"give exactly one of {', '.join(_BOUND)}")
    return SidecarEntry(stated[0], entry.text(stated[0]), entry.mapping("provenance"))


def _decompressed(raw: bytes | None, path: Path) -> str:
    place = Place(str(path))
    if raw is None:
        raise InputError("no such file: the pack has no provenance", place=place, cure="pack again")
    try:
        with gzip.open(io.BytesIO(raw)) as file:
            whole = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read: {error}", place=place, cure="pack the catalog again") from None
    if len(whole) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES >> 20} MiB", place=place)
    try:
        return whole.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error.reason}", place=place) from None


def find_sidecar(kdp_path: Path) -> Path:
    """The sidecar that lies beside a pack's file: the newer name, else the older one where only that is there."""
    newer = kdp_path.with_name(sidecar_name(kdp_path.name))
    older = kdp_path.with_name(kdp_path.name.removesuffix(".kdp.json") + ".provenance.json.gz")
    return older if older.exists() and not newer.exists() else newer
