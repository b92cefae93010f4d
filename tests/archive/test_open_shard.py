"""Nothing of a damaged, foreign or half-written shard may run: every byte of it is accounted for before it opens."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pack_samples as samples
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pack_samples import ALLOWED, COMPILERS, kernel

from winnow.archive.marker import MARKER, marker_text
from winnow.archive.verify import Shard, open_shard, shards_of
from winnow.descriptors.reading import descriptor_record
from winnow.descriptors.tree import read_catalog
from winnow.errors import InputError
from winnow.identity import record_digest, sha256_hex
from winnow.pack.records import record_problem
from winnow.pack.shard import pack_arch

V3 = "x86-64-v3"
KDP = "packs/main.kdp.json"
SIDECAR = "packs/main.kdp.provenance.json.gz"
ARCHIVE = "kpack/winnow_Sample_x86-64-v3.kpack"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("archive")
    catalog = samples.catalog(kernel("k4", tile=4), kernel("k8", tile=8, fast=True, arch=["x86-64-generic"]))
    for arch in (V3, "x86-64-v2"):
        pack_arch(catalog, arch, out, allowed=ALLOWED, jobs=1, compilers=COMPILERS)
    return out


@pytest.fixture
def tree(packed: Path, tmp_path: Path) -> Path:
    shutil.copytree(packed, tmp_path / "archive")
    return tmp_path / "archive"


def refusal(root: Path, arch: str = V3) -> str:
    with pytest.raises(InputError) as error:
        open_shard(root, arch, compilers=COMPILERS)
    return str(error.value)


def restamp(root: Path) -> None:
    """Write the marker anew, as somebody would who edits a shard on purpose."""
    shard = root / V3
    files = {p.relative_to(shard).as_posix(): p.read_bytes() for p in shard.rglob("*") if p.is_file()}
    files.pop(MARKER, None)
    (shard / MARKER).write_text(marker_text(V3, files))


def edit(root: Path, change: Callable[[dict[str, Any]], Any], file: str = KDP) -> None:
    """Change one document of the shard and stamp the shard again."""
    path = root / V3 / file
    raw = gzip.decompress(path.read_bytes()) if file.endswith(".gz") else path.read_bytes()
    document = json.loads(raw)
    change(document)
    text = json.dumps(document).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if file.endswith(".gz") else text)
    restamp(root)


def problems(shard: Shard) -> list[str | None]:
    catalog = read_catalog(shard.root)
    return [record_problem(catalog, kdp, k, shard.provenance[k.id], KDP) for kdp, k in catalog.kernels()]


def test_an_untouched_shard_opens_and_its_records_agree(packed: Path) -> None:
    shard = open_shard(packed, V3, compilers=COMPILERS)
    assert [k.name for k in shard.kernels] == ["k4", "k8"]
    assert problems(shard) == [None, None]
    for packed_object in shard.objects.values():
        assert sha256_hex(packed_object.payload) == packed_object.sha256


def test_a_missing_shard_names_those_there_are(packed: Path, tmp_path: Path) -> None:
    assert shards_of(packed) == ("x86-64-v2", V3)
    assert refusal(packed, "x86-64-v4") == (
        f"{packed}: no shard for x86-64-v4\n"
        "  cure: run `winnow pack --arch x86-64-v4` (shards here: x86-64-v2, x86-64-v3)"
    )
    assert refusal(tmp_path / "nowhere") == (
        f"{tmp_path}/nowhere: no shard for x86-64-v3\n  cure: run `winnow pack --arch x86-64-v3` (shards here: none)"
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_anywhere_is_found(tree: Path, data: st.DataObject) -> None:
    files = sorted(p for p in (tree / V3).rglob("*") if p.is_file())
    path = data.draw(st.sampled_from(files))
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    flip = data.draw(st.integers(1, 255))
    try:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
        refusal(tree)
        path.write_bytes(whole[:at])
        refusal(tree)
    finally:
        path.write_bytes(whole)


def test_one_byte_of_an_object_names_archive_kernel_and_digests(tree: Path) -> None:
    path = tree / V3 / ARCHIVE
    whole = path.read_bytes()
    at = whole.index(b"\x28\xb5\x2f\xfd") + 30
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    said = refusal(tree)
    expected, found = sha256_hex(whole), sha256_hex(path.read_bytes())
    assert said.startswith(f"{path}: digest mismatch: expected {expected} found {found} (kernel k4: ")
    assert said.endswith("\n  cure: pack the catalog again; nothing was loaded")


def test_damage_beside_the_objects_says_so(tree: Path) -> None:
    path = tree / V3 / ARCHIVE
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"winnow_Sample", b"winnow_Sampel"))
    assert "(no kernel's object is touched)" in refusal(tree)
    path.write_bytes(whole[:100])
    assert "(malformed kpack archive: its table would begin at byte" in refusal(tree)
    path.write_bytes(whole.replace(b"pack_samples_", b"pack_sampels_"))
    assert "(kernel k4: the archive holds no " in refusal(tree)


def test_files_too_many_and_too_few(tree: Path) -> None:
    extra = tree / V3 / "extra.json"
    extra.write_text("{}")
    assert refusal(tree) == f"{extra}: this file is not one that was packed\n  cure: pack the catalog again"
    extra.unlink()
    (tree / V3 / SIDECAR).unlink()
    assert refusal(tree) == f"{tree}/{V3}/{SIDECAR}: the shard lacks this file\n  cure: pack the catalog again"


def test_the_marker_removed_or_of_another_arch(tree: Path) -> None:
    marker = tree / V3 / MARKER
    text = marker.read_text()
    marker.unlink()
    assert refusal(tree) == (
        f"{tree}/{V3}: no hkp-packed.marker: this is not a shard that a pack finished\n"
        "  cure: run `winnow pack --arch x86-64-v3`"
    )
    assert shards_of(tree) == ("x86-64-v2", V3)
    marker.write_text(text.replace('"arch": "x86-64-v3"', '"arch": "x86-64-v2"'))
    assert refusal(tree) == f"{marker}: the marker is of x86-64-v2, not x86-64-v3"
    for respelled in (
        text.replace("\n", "\r"),
        text + "\n",
        text.replace("  ", " "),
        text.replace("x86", "x\\u0038" + "6"),
    ):
        marker.write_bytes(respelled.encode())
        assert refusal(tree) == f"{marker}: the marker is not as it was written\n  cure: pack the catalog again"


def test_a_shard_under_the_name_of_another_arch(tree: Path) -> None:
    (tree / V3).rename(tree / "x86-64-v4")
    assert "the marker is of x86-64-v3, not x86-64-v4" in refusal(tree, "x86-64-v4")


def source(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["kernelDescriptors"][0]["kernel_source"]
    return found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: source(d).update(sha256="0" * 64), "k4: digest mismatch: expected " + "0" * 64 + " found "),
        (
            lambda d: source(d).update(sha256="0" * 63),
            "kernel_source.sha256: not 64 lower-case hex digits (value: '000",
        ),
        (lambda d: source(d).pop("signature"), 'kernel_source.signature: key "signature" is missing'),
        (lambda d: source(d).update(toc_key="other"), 'the archive holds no "other" for x86-64-v3'),
        (lambda d: source(d).update(library="../../x86-64-v2/kpack/x.kpack"), "k4: the shard has no archive ../../x86"),
        (
            lambda d: source(d).update(kind="hsaco"),
            "kernel_source.kind: not \"kpack\" (value: 'hsaco')",
        ),
        (lambda d: d["kernelDescriptors"][0].update(arch=["gfx942"]), "k4: arch is ['gfx942'], not ['x86-64-v3']"),
        (
            lambda d: d["kernelDescriptors"][0]["metadata"].update(tile=8),
            "the provenance was written for another form of k4",
        ),
    ],
)
def test_descriptors_edited_on_purpose(tree: Path, change: Callable[[dict[str, Any]], Any], said: str) -> None:
    edit(tree, change)
    assert said in refusal(tree)


def rebind(root: Path, kernel_id: str) -> None:
    """Bind the sidecar's entry of a kernel to the descriptor as it is now."""
    document = json.loads((root / V3 / KDP).read_text())
    ukd = next(item for item in document["kernelDescriptors"] if item["id"] == kernel_id)
    edit(root, lambda d: d["entries"][kernel_id].update(ukd_sha256=record_digest(ukd)), SIDECAR)


def test_a_signature_that_the_object_does_not_have(tree: Path) -> None:
    edit(tree, lambda d: source(d)["signature"][1].update(size=4))
    rebind(tree, kernel("k4").id)
    assert refusal(tree) == (
        f"{tree}/{V3}/{KDP}: kernelDescriptors[0]: k4: its descriptor states the arguments a (8 bytes at 0), "
        "b (4 bytes at 8), n (8 bytes at 16), its object takes a (8 bytes at 0), b (8 bytes at 8), n (8 bytes at 16)\n"
        "  cure: pack the catalog again"
    )


def test_an_object_of_another_symbol_target_or_kind(tree: Path) -> None:
    edit(tree, lambda d: source(d).update(symbol="sample_t9"))
    rebind(tree, kernel("k4").id)
    assert 'k4: the object holds the kernel "sample_t4", not "sample_t9"' in refusal(tree)
    edit(tree, lambda d: source(d).update(symbol="sample_t4"))
    rebind(tree, kernel("k4").id)
    entry = kernel("k4").id
    edit(tree, lambda d: d["entries"][entry]["provenance"].update(target="gfx942"), SIDECAR)
    assert "k4: its object is for x86-64-v3, its provenance says gfx942 of ['x86-64-v3', 'x86-64-generic']" in refusal(
        tree
    )
    edit(tree, lambda d: d["entries"][entry]["provenance"].update(target=V3, origin_kind="hip"), SIDECAR)
    assert 'k4: no compiler for kernel sources of kind "hip" is installed' in refusal(tree)
    edit(tree, lambda d: d["entries"][entry]["provenance"].update(origin_kind=5), SIDECAR)
    assert "provenance of k4: origin_kind: not a string (value: 5)" in refusal(tree)


def test_a_sidecar_without_its_entry(tree: Path) -> None:
    edit(tree, lambda d: d["entries"].pop(kernel("k8").id), SIDECAR)
    assert "kernelDescriptors[1]: the provenance has no entry for k8" in refusal(tree)


def test_metadata_edited_with_everything_stamped_again_is_found_by_its_record(tree: Path) -> None:
    edit(tree, lambda d: d["kernelDescriptors"][0]["metadata"].update(tile=2))
    rebind(tree, kernel("k4").id)
    shard = open_shard(tree, V3, compilers=COMPILERS)
    said, other = problems(shard)
    assert said is not None
    assert said.startswith("the descriptor is not what was recorded (recorded ")
    assert other is None


def observed(provenance: dict[str, Any]) -> dict[str, Any]:
    """The values of the one observation."""
    (request,) = provenance["effective_spec"]["observations"]["requests"].values()
    values: dict[str, Any] = request["values"]
    return values


def reasked(provenance: dict[str, Any], **accessors: dict[str, str]) -> None:
    """Other questions than the contract asks, with a digest that fits them."""
    requests = provenance["effective_spec"]["observations"]["requests"]
    (request,) = requests.values()
    request["accessors"].update(accessors)
    provenance["effective_spec"]["observations"]["requests"] = {record_digest(request["accessors"]): request}


RECORD_CHANGES: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda p: p["spec"].update(tile=9), "what was authored is not what was recorded"),
    (lambda p: p["effective_spec"].update(schema_version=2), "its provenance cannot be used: Input should be 1"),
    (lambda p: p["effective_spec"].update(extra=1), 'its provenance cannot be used: unknown key "extra"'),
    (lambda p: p.pop("effective_spec"), "its provenance has no effective_spec"),
    (lambda p: p.pop("specialization_contract"), "its provenance has no specialization_contract"),
    (
        lambda p: p["effective_spec"]["observations"].update(code_object_sha256="0"),
        "the code object is not what was recorded (recorded 0, found ",
    ),
    (lambda p: p["effective_spec"]["consumers"][0].update(kmd="0"), "the consumers is not what was recorded"),
    (
        lambda p: p["specialization_contract"]["consumers"][0]["vocabulary"].update(dtype={"fp32": "HALF"}),
        "the consumers is not what was recorded",
    ),
    (
        lambda p: observed(p).update(tile=5),
        '"tile" was observed as 5, but the spec states tile = 4',
    ),
    (
        lambda p: observed(p).update(fast=0),
        '"fast" was observed as 0, but the spec states fast = False',
    ),
    (
        lambda p: observed(p).update(tile_multiple=9),
        "metadata says tile_multiple = 4, but 9 is what is compiled",
    ),
    (
        lambda p: reasked(p, tile={"method": "tile_multiple"}),
        "\"tile\" was observed by {'method': 'tile_multiple'}, which is not how the contract binds it",
    ),
    (
        lambda p: observed(p).pop("tile"),
        "its provenance does not hold one value for each that was asked for",
    ),
    (
        lambda p: p["effective_spec"]["observations"].update(requests={}),
        "its provenance does not hold exactly one observation",
    ),
]


@pytest.mark.parametrize(("change", "said"), RECORD_CHANGES)
def test_a_record_that_does_not_hold_is_named(packed: Path, change: Callable[[dict[str, Any]], Any], said: str) -> None:
    shard = open_shard(packed, V3, compilers=COMPILERS)
    catalog = read_catalog(shard.root)
    kdp, first = next(iter(catalog.kernels()))
    provenance = json.loads(json.dumps(shard.provenance[first.id]))
    change(provenance)
    found = record_problem(catalog, kdp, first, provenance, KDP)
    assert found is not None
    assert found.startswith(said)
    assert record_problem(catalog, kdp, first, shard.provenance[first.id], KDP) is None
    assert "provenance" not in descriptor_record(first)
