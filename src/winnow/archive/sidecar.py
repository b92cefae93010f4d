"""The provenance sidecar of a packed kernel pack: where each kernel came from, apart from what loaders read."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import model_validator

from winnow.descriptors.documents import Ukd
from winnow.descriptors.reading import descriptor_record
from winnow.errors import InputError, Place
from winnow.identity import canonical_json, record_digest
from winnow.strict.json_reader import parse_json
from winnow.strict.schema import StrictModel, validate

MAX_BYTES = 64 << 20

Bound = Literal["ukd_sha256", "kernel_source_sha256"]


@dataclass(frozen=True)
class SidecarEntry:
    """One kernel's provenance and the digest that binds it: over the whole descriptor, or (older) its source."""

    bound: Bound
    digest: str
    provenance: Mapping[str, Any]

    def belongs_to(self, kernel: Ukd) -> bool:
        """True where the descriptor is the one that this entry was written for."""
        record = descriptor_record(kernel)
        return self.digest == record_digest(record if self.bound == "ukd_sha256" else record["kernel_source"])


def sidecar_name(kdp_file: str) -> str:
    """The sidecar's file name beside `<stem>.kdp.json`."""
    return kdp_file.removesuffix(".json") + ".provenance.json.gz"


def write_sidecar(kdp_id: str, entries: Mapping[str, tuple[Ukd, Mapping[str, Any]]]) -> bytes:
    """The sidecar's bytes for `{kernel id: (descriptor as shipped, provenance)}`; no clock in them."""
    document = {
        "version": "1.0",
        "kdp_id": kdp_id,
        "entries": {
            ukd_id: {"ukd_sha256": record_digest(descriptor_record(kernel)), "provenance": dict(provenance)}
            for ukd_id, (kernel, provenance) in entries.items()
        },
    }
    return gzip.compress(canonical_json(document, ensure_ascii=False).encode(), compresslevel=9, mtime=0)


class _Entry(StrictModel):
    ukd_sha256: str | None = None
    kernel_source_sha256: str | None = None
    provenance: dict[str, Any]

    @model_validator(mode="after")
    def _bound(self) -> _Entry:
        if (self.ukd_sha256 is None) == (self.kernel_source_sha256 is None):
            raise ValueError("give exactly one of ukd_sha256, kernel_source_sha256")
        return self


class _Sidecar(StrictModel):
    version: str
    kdp_id: str | None
    entries: dict[str, _Entry]


def read_sidecar(path: Path) -> dict[str, SidecarEntry]:
    """A sidecar's entries by kernel id, in either of its two forms.

    Raises:
        InputError: missing, not gzip, larger than 64 MiB, malformed, or of another major version.
    """
    document = parse_json(_decompressed(path), str(path))
    sidecar = validate(_Sidecar, document)
    if sidecar.version.partition(".")[0] != "1":
        raise InputError(
            f"version {sidecar.version}, this reader knows 1", place=document.place("version"), cure="update winnow"
        )
    return {ukd_id: _entry(entry) for ukd_id, entry in sidecar.entries.items()}


def _entry(entry: _Entry) -> SidecarEntry:
    if entry.ukd_sha256 is not None:
        return SidecarEntry("ukd_sha256", entry.ukd_sha256, entry.provenance)
    return SidecarEntry("kernel_source_sha256", entry.kernel_source_sha256 or "", entry.provenance)


def _decompressed(path: Path) -> str:
    place = Place(str(path))
    try:
        with gzip.open(path) as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError("no such file: the pack has no provenance", place=place, cure="pack again") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be read: {error}", place=place, cure="pack the catalog again") from None
    if len(raw) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES >> 20} MiB", place=place)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error.reason}", place=place) from None


def find_sidecar(kdp_path: Path) -> Path:
    """The sidecar that lies beside a pack's file: the newer name, else the older one where only that is there."""
    newer = kdp_path.with_name(sidecar_name(kdp_path.name))
    older = kdp_path.with_name(kdp_path.name.removesuffix(".kdp.json") + ".provenance.json.gz")
    return older if older.exists() and not newer.exists() else newer
