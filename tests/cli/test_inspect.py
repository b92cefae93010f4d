"""Whatever Winnow writes can be looked at without another tool, and what it did not write is said to be so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted_descriptors import pack, to_own_file

from winnow.pack.kpack import KpackReader

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
