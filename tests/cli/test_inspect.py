"""Whatever Winnow writes can be looked at without another tool, and what it did not write is said to be so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted_descriptors import pack, to_own_file

from winnow.archive.kpack import KpackEntry, KpackReader, write_kpack
from winnow.archive.marker import MARKER, marker_text
from winnow.archive.verify import shards_of

DATA = Path(__file__).parent.parent / "data" / "hipdnn"


def test_a_kmd_is_a_table_of_fields(winnow):
    code, out, _ = winnow("inspect", DATA / "older_gfx950_attention_dense.kmd.json")
    assert code == 0
    assert out.splitlines()[:8] == [
        "descriptor",
        "  version  1.0",
        "  id       6cff57ba-9c86-46b7-ae54-c4c062bf3ef1",
        "  name     Gfx950AttentionDense variant fields",
        "fields (21)",
        "  name             type    default_value",
        "  dtype            string",
        "  batch            int     1",
    ]


@pytest.mark.parametrize("kind", ["kmd", "ued", "umd", "udd", "uhd", "kdp"])
def test_every_type_of_descriptor_is_shown(small_engine: Path, winnow, kind: str):
    path = next((small_engine / "catalog").glob(f"*.{kind}.json"))
    code, out, _ = winnow("inspect", path)
    assert code == 0
    assert json.loads(path.read_text())["id"] in out


def test_a_kernel_of_its_own_and_the_pack_that_refers_to_it(small_engine: Path, winnow):
    own = to_own_file(small_engine)
    name = json.loads(own.read_text())["name"]
    for path in (own, pack(small_engine), small_engine / "catalog"):
        code, out, _ = winnow("inspect", path)
        assert code == 0
        assert name in out


def test_a_catalog_shows_the_metadata_in_which_kernels_differ(small_engine: Path, winnow):
    _, out, _ = winnow("inspect", small_engine / "catalog")
    heading = next(line for line in out.splitlines() if line.startswith("  name  ") and "priority" in line)
    assert "reg_m" in heading
    assert "dtype" not in heading
    _, out, _ = winnow("inspect", small_engine / "catalog", "--json")
    assert len(json.loads(out)["kernels"]) == 10


def test_an_archive_and_its_objects(small_engine: Path, winnow, tmp_path: Path):
    archive = next((small_engine / "build" / "archive").rglob("*.kpack"))
    code, out, _ = winnow("inspect", archive)
    assert code == 0
    assert "objects (10)" in out
    reader = KpackReader(archive.read_bytes(), str(archive))
    (path, arch), *_ = reader.keys
    (tmp_path / "one.so").write_bytes(reader.read(path, arch))
    code, out, _ = winnow("inspect", tmp_path / "one.so")
    assert code == 0
    assert f"target            {arch}" in out
    assert "stride_cm" in out


def test_long_tables_say_what_they_leave_out(winnow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "catalog"
    selection = DATA / "gfx950_attention_dense.yaml"
    assert winnow("generate", "--selection", selection, "-o", target)[0] == 0
    _, out, _ = winnow("inspect", target)
    assert "  … and 780 more (--all shows them)" in out
    _, out, _ = winnow("inspect", target, "--all")
    assert out.count("  attention_dense.") == 840


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x", None, "no such file or directory"),
        (
            "x.bin",
            b"abc",
            "neither a descriptor, an archive nor a code object\n"
            "  cure: name a directory of descriptors, a *.<type>.json file, a *.kpack file or a shared object",
        ),
    ],
)
def test_what_cannot_be_shown_is_unusable(winnow, tmp_path: Path, name: str, content: bytes | None, message: str):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    code, out, err = winnow("inspect", path)
    assert (code, out, err) == (2, "", f"winnow: {path}: {message}\n")


def test_an_empty_directory_and_a_broken_object_are_unusable(winnow, tmp_path: Path):
    code, _, err = winnow("inspect", tmp_path)
    assert (code, err) == (2, f"winnow: {tmp_path}: no descriptors below this directory\n")
    (tmp_path / "x.so").write_bytes(b"\x7fELF but nothing else")
    code, _, err = winnow("inspect", tmp_path / "x.so")
    assert code == 2
    assert "malformed code object" in err


def samples(path: Path) -> bytes:
    entries = [KpackEntry(f"{name}.so", "x86-64-v2", name.encode() * 200, "so") for name in ("one", "two")]
    path.write_bytes(write_kpack("engine", "x86-64", ["x86-64-v2"], entries))
    return path.read_bytes()


def test_of_a_damaged_archive_what_can_be_read_is_shown_and_the_command_fails(winnow, tmp_path: Path):
    path = tmp_path / "a.kpack"
    whole = samples(path)
    assert winnow("inspect", path)[0] == 0
    frame = whole.index(b"\x28\xb5\x2f\xfd")  # of the first object; the second one can still be read
    path.write_bytes(whole[:frame] + b"\0\0\0\0" + whole[frame + 4 :])
    code, out, err = winnow("inspect", path)
    problem = 'malformed kpack archive: "one.so" cannot be decompressed: '
    assert code == 2
    assert "two.so" in out
    assert "damage (1)" in out
    assert err.startswith(f"winnow: {path}: {problem}")
    assert err.endswith("\n  cure: pack the catalog again\n")
    code, out, _ = winnow("inspect", path, "--json")
    assert (code, json.loads(out)["objects"][1]["bytes"]) == (2, 600)
    assert json.loads(out)["damage"][0]["problem"].startswith(problem)


def test_of_a_truncated_archive_at_least_the_size_is_shown(winnow, tmp_path: Path):
    path = tmp_path / "a.kpack"
    path.write_bytes(samples(path)[:40])
    code, out, err = winnow("inspect", path)
    assert code == 2
    assert "bytes   40" in out
    assert err.startswith(f"winnow: {path}: malformed kpack archive: 40 bytes are less than its header\n")


def test_a_packed_file_that_was_changed_is_found_by_the_marker(winnow, tmp_path: Path):
    """An archive may be well formed and still hold other code than was packed."""
    shard = tmp_path / "x86-64-v2"
    shard.mkdir()
    archive = shard / "a.kpack"
    whole = samples(archive)
    (shard / MARKER).write_text(marker_text("x86-64-v2", {"a.kpack": whole}))
    assert winnow("inspect", archive)[0] == 0
    entry = KpackEntry("one.so", "x86-64-v2", b"other", "so")
    archive.write_bytes(write_kpack("engine", "x86-64", ["x86-64-v2"], [entry]))
    code, out, err = winnow("inspect", archive)
    assert (code, err) == (
        2,
        f"winnow: {archive}: it is not as it was packed: its digest is not the one that the marker has\n"
        "  cure: pack the catalog again\n",
    )
    assert "one.so" in out
    (shard / MARKER).write_text("[]")
    assert winnow("inspect", archive)[0] == 0
    (shard / "a.kmd.json").write_text((DATA / "older_gfx950_attention_dense.kmd.json").read_text())
    code, out, err = winnow("inspect", shard)
    assert code == 2
    assert err.startswith(f"winnow: {shard / MARKER}: it is not as it was packed")


def test_a_shard_that_a_pack_has_not_finished_removing_is_not_damage(small_engine: Path, winnow):
    archive = small_engine / "build" / "archive"
    (shard,) = archive.iterdir()
    retired = archive / f".{shard.name}.staging-1-a"
    retired.mkdir()
    (retired / MARKER).write_bytes((shard / MARKER).read_bytes())
    assert winnow("inspect", archive)[0] == 0
    assert shards_of(archive) == (shard.name,)


def test_a_shard_without_its_archive_is_shown_and_fails(small_engine: Path, winnow):
    shard = next((small_engine / "build" / "archive").iterdir())
    assert winnow("inspect", shard)[0] == 0
    archive = next(shard.rglob("*.kpack"))
    archive.unlink()
    code, out, err = winnow("inspect", shard)
    assert code == 2
    assert "kernels (10)" in out
    assert err == f"winnow: {archive}: the shard lacks this file\n  cure: pack the catalog again\n"
