"""Provenance that belongs to another kernel, or that a reader half-understands, proves nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pack_samples as samples
import pytest

from winnow.archive.sidecar import MAX_BYTES, find_sidecar, read_sidecar, sidecar_name, write_sidecar
from winnow.descriptors.reading import descriptor_record
from winnow.errors import InputError
from winnow.identity import record_digest

KERNEL = samples.kernel("k1")
RECORD = descriptor_record(KERNEL)


def compressed(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "main.kdp.provenance.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    return path


def test_written_entries_are_read_and_bound_to_their_kernel(tmp_path: Path) -> None:
    data = write_sidecar("kdp-id", {KERNEL.id: (RECORD, {"source": "ü"})})
    assert data == write_sidecar("kdp-id", {KERNEL.id: (RECORD, {"source": "ü"})})
    assert data[4:10] == bytes(4) + b"\x02\x03"  # no time; best compression, on Unix: for every Python
    path = tmp_path / sidecar_name("main.kdp.json")
    path.write_bytes(data)
    entry = read_sidecar(path)[KERNEL.id]
    assert entry.provenance == {"source": "ü"}
    assert entry.belongs_to(RECORD)
    assert entry.belongs_to({**RECORD, "provenance": {"any": 1}})
    assert not entry.belongs_to({**RECORD, "priority": 1})
    assert not entry.belongs_to(descriptor_record(samples.kernel("k1", metadata={"tile": 5})))


def test_the_older_form_binds_the_kernel_source_alone(tmp_path: Path) -> None:
    digest = record_digest(KERNEL.kernel_source)
    document = {
        "version": "1.0",
        "kdp_id": None,
        "entries": {KERNEL.id: {"kernel_source_sha256": digest, "provenance": {}}},
    }
    entry = read_sidecar(compressed(tmp_path, document))[KERNEL.id]
    assert entry.belongs_to(descriptor_record(samples.kernel("k1", metadata={"tile": 5})))
    assert not entry.belongs_to(descriptor_record(samples.kernel("k1", tile=5)))


def test_the_newer_name_is_preferred_and_the_older_one_found(tmp_path: Path) -> None:
    kdp = tmp_path / "main.kdp.json"
    newer, older = tmp_path / "main.kdp.provenance.json.gz", tmp_path / "main.provenance.json.gz"
    assert find_sidecar(kdp) == newer
    older.touch()
    assert find_sidecar(kdp) == older
    newer.touch()
    assert find_sidecar(kdp) == newer


ENTRY = {"ukd_sha256": "0" * 64, "provenance": {}}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"version": "2.0", "kdp_id": None, "entries": {}}, "version 2.0, this reader knows 1\n  cure: update winnow"),
        ({"version": "1.0", "kdp_id": None}, 'key "entries" is missing'),
        (
            {"version": "1.0", "kdp_id": None, "entries": {"k": {"provenance": {}}}},
            "give exactly one of ukd_sha256, kernel_source_sha256",
        ),
        (
            {"version": "1.0", "kdp_id": None, "entries": {"k": {**ENTRY, "kernel_source_sha256": "1"}}},
            "give exactly one of ukd_sha256, kernel_source_sha256",
        ),
        ({"version": "1.0", "kdp_id": None, "entries": {"k": {**ENTRY, "x": 1}}}, 'unknown key "x"'),
    ],
)
def test_sidecars_of_another_form(tmp_path: Path, document: Any, said: str) -> None:
    path = compressed(tmp_path, document)
    with pytest.raises(InputError) as error:
        read_sidecar(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)


def test_sidecars_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "main.kdp.provenance.json.gz"
    with pytest.raises(InputError) as error:
        read_sidecar(path)
    assert str(error.value) == f"{path}: no such file: the pack has no provenance\n  cure: pack again"
    whole = gzip.compress(b"{}" * 1000)
    for damaged in (b"", b"{}", whole[:-9], whole[:20] + b"xx" + whole[22:], gzip.compress(b"\xff")):
        path.write_bytes(damaged)
        with pytest.raises(InputError):
            read_sidecar(path)
    path.write_bytes(gzip.compress(bytes(MAX_BYTES + 1)))
    with pytest.raises(InputError) as error:
        read_sidecar(path)
    assert str(error.value) == f"{path}: larger than 64 MiB"
