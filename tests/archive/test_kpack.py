"""A damaged archive must never load wrong code, crash the reader or make it reserve what the file only claims."""

from __future__ import annotations

import struct
from typing import Any

import msgpack
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.archive.kpack import BLOB_START, MAX_OBJECT_BYTES, KpackEntry, KpackReader, Scheme, write_kpack
from winnow.errors import InputError

SCHEMES: list[Scheme] = ["none", "zstd-per-kernel"]
PAYLOADS = {("a", "gfx942"): b"first object" * 40, ("a", "gfx950"): b"", ("dir/b", "gfx950"): bytes(range(256)) * 3}
ENTRIES = [KpackEntry(path, arch, payload) for (path, arch), payload in PAYLOADS.items()]
ARCHES = ["gfx942", "gfx950"]
ARCHIVES = {scheme: write_kpack("group", "gfx9", ARCHES, ENTRIES, scheme=scheme) for scheme in SCHEMES}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_written_is_read(scheme: Scheme) -> None:
    reader = KpackReader(ARCHIVES[scheme], "x.kpack")
    assert (reader.group, reader.family, reader.arches, reader.scheme) == ("group", "gfx9", tuple(ARCHES), scheme)
    assert {key: reader.read(*key) for key in reader.keys} == PAYLOADS


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.text(min_size=1), st.binary(max_size=200)), unique_by=lambda e: e[0].replace("\\", "/")),
    st.sampled_from(SCHEMES),
)
def test_any_objects_survive_and_the_same_ones_give_the_same_bytes(
    objects: list[tuple[str, bytes]], scheme: Scheme
) -> None:
    entries = [KpackEntry(path, "gfx942", payload, metadata={"variant_key": path}) for path, payload in objects]
    data = write_kpack("g", "gfx942", ["gfx942"], entries, scheme=scheme)
    assert data == write_kpack("g", "gfx942", ["gfx942"], entries, scheme=scheme)
    reader = KpackReader(data, "x.kpack")
    for path, payload in objects:
        key = path.replace("\\", "/")
        assert reader.read(key, "gfx942") == payload
        assert reader.metadata(key, "gfx942") == {"variant_key": path}
        assert reader.type_of(key, "gfx942") == "hsaco"


def test_layout_is_that_of_the_format() -> None:
    for scheme, data in ARCHIVES.items():
        magic, version, toc_offset = struct.unpack_from("<4sIQ", data)
        assert (magic, version) == (b"KPAK", 1)
        assert data[16:BLOB_START] == bytes(48)
        toc = msgpack.unpackb(data[toc_offset:])
        assert toc["format_version"] == 1
        assert toc["compression_scheme"] == scheme
        assert [cell["ordinal"] for row in toc["toc"].values() for cell in row.values()] == [0, 1, 2]
        assert toc["toc"]["a"]["gfx942"] == {"type": "hsaco", "ordinal": 0, "original_size": 480}
    plain = ARCHIVES["none"]
    blobs = msgpack.unpackb(plain[struct.unpack_from("<8xQ", plain)[0] :])["blobs"]
    assert blobs == [{"offset": 64, "size": 480}, {"offset": 544, "size": 0}, {"offset": 544, "size": 768}]
    compressed = ARCHIVES["zstd-per-kernel"]
    count, size = struct.unpack_from("<II", compressed, BLOB_START)
    assert count == 3
    assert zstandard.ZstdDecompressor().decompress(compressed[72 : 72 + size]) == b"first object" * 40


def test_the_same_path_and_arch_twice_is_refused() -> None:
    twice = [KpackEntry("a/b", "gfx942", b"1"), KpackEntry("a\\b", "gfx942", b"2")]
    with pytest.raises(InputError) as error:
        write_kpack("g", "gfx942", ["gfx942"], twice)
    assert str(error.value) == 'the archive would hold "a/b" for gfx942 twice'
    with pytest.raises(InputError) as error:
        write_kpack("g", "gfx942", ["gfx942"], [KpackEntry("a", "gfx950", b"1")])
    assert str(error.value) == '"a" is for gfx950, the archive only for gfx942'


def test_an_object_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError) as error:
        KpackReader(ARCHIVES["none"], "x.kpack").read("c", "gfx942")
    assert str(error.value) == 'x.kpack: the archive holds no "c" for gfx942'


def survive(damaged: bytes) -> None:
    """Read all that a damaged archive still offers: an InputError is fine, any other error fails the test."""
    try:
        reader = KpackReader(damaged, "x.kpack")
    except InputError:
        return
    for key in (*PAYLOADS, *reader.keys):
        try:
            found = reader.read(*key)
        except InputError:
            continue
        # What is handed out was in the file, or in a frame of a size that the file can really hold.
        assert len(found) < 1 << 20


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_byte_changed_and_every_length_is_survived(scheme: Scheme) -> None:
    data = ARCHIVES[scheme]
    for i in range(len(data)):
        survive(data[:i])
        for flip in (0x01, 0x80, 0xFF):
            survive(data[:i] + bytes([data[i] ^ flip]) + data[i + 1 :])


@settings(deadline=None)
@given(st.sampled_from(SCHEMES), st.data())
def test_any_damage_is_survived(scheme: Scheme, data: st.DataObject) -> None:
    raw = bytearray(ARCHIVES[scheme])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=8))
    survive(bytes(raw))


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_behind_a_true_header_are_survived(body: bytes) -> None:
    survive(struct.pack("<4sIQ", b"KPAK", 1, BLOB_START).ljust(BLOB_START, b"\0") + body)


def lying(scheme: Scheme, change: Any) -> bytes:
    """An archive whose table was changed by `change(toc)` and written again."""
    data = ARCHIVES[scheme]
    (offset,) = struct.unpack_from("<8xQ", data)
    toc = msgpack.unpackb(data[offset:])
    return data[:offset] + msgpack.packb(change(toc) or toc)


def cell(toc: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = toc["toc"]["a"]["gfx942"]
    return found


@pytest.mark.parametrize(
    ("scheme", "change", "problem"),
    [
        ("none", lambda t: t.update(format_version=2), "format_version is 2, this reader knows 1"),
        ("none", lambda t: t.update(format_version=True), "format_version is True, this reader knows 1"),
        ("none", lambda t: t.update(compression_scheme="lzma"), "unknown compression scheme 'lzma'"),
        ("none", lambda t: t.update(compression_scheme=["none"]), "compression_scheme is not text"),
        ("none", lambda t: t.update(gfx_arches="gfx942"), "gfx_arches is not a list of texts"),
        ("none", lambda t: t.pop("group_name") and None, "group_name is not text"),
        ("none", lambda t: t.update(blobs=5), "blobs is not a list"),
        ("none", lambda t: t["blobs"][0].update(size=1 << 62), "blob 0 lies outside the blob area"),
        ("none", lambda t: t["blobs"][0].update(offset=0), "blob 0 lies outside the blob area"),
        ("none", lambda t: t["blobs"][1].update(offset=-1), "blob 1 lies outside the blob area"),
        ("none", lambda t: t["blobs"][2].update(offset=t["blobs"][0]["offset"]), "two blobs overlap"),
        ("none", lambda t: t.update(gfx_arches=["gfx950"]), '"a" is for gfx942, which is not one of gfx950'),
        ("none", lambda t: t.update(toc=[]), "toc is not a map"),
        ("none", lambda t: t["toc"].update(a=1), 'toc row "a" is not a map'),
        ("none", lambda t: cell(t).update(ordinal=3), '"a" for gfx942 has no place among the 3 objects'),
        ("none", lambda t: cell(t).update(ordinal=True), '"a" for gfx942 has no place among the 3 objects'),
        ("none", lambda t: cell(t).update(original_size=MAX_OBJECT_BYTES + 1), '"a" for gfx942 has no possible size'),
        ("none", lambda t: cell(t).update(metadata={"k": 1}), '"a" for gfx942 has metadata that is not text'),
        ("none", lambda t: cell(t).pop("type") and None, "type is not text"),
        ("none", lambda t: [t], "its table is not a map"),
        ("zstd-per-kernel", lambda t: t.update(zstd_size=1 << 40), "the compressed area lies outside the blob area"),
        ("zstd-per-kernel", lambda t: t.update(zstd_size=3), "the compressed area lies outside the blob area"),
        ("zstd-per-kernel", lambda t: t.update(zstd_offset=0), "the compressed area lies outside the blob area"),
        ("zstd-per-kernel", lambda t: t.update(zstd_size=8), "frame 0 of 3 lies outside the compressed area"),
        (
            "zstd-per-kernel",
            lambda t: t.update(zstd_size=t["zstd_size"] - 1),
            "frame 2 of 3 lies outside the compressed area",
        ),
    ],
)
def test_a_lying_table_is_refused(scheme: Scheme, change: Any, problem: str) -> None:
    with pytest.raises(InputError) as error:
        KpackReader(lying(scheme, change), "x.kpack")
    assert str(error.value) == f"x.kpack: malformed kpack archive: {problem}\n  cure: pack the catalog again"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (b"", "0 bytes are less than its header"),
        (b"ELF!" + ARCHIVES["none"][4:], "it begins with b'ELF!', not b'KPAK'"),
        (b"KPAK\x02" + ARCHIVES["none"][5:], "version 2, this reader knows 1"),
        (ARCHIVES["none"][:20] + b"\1" + ARCHIVES["none"][21:], "the padding after its header is not zero"),
        (struct.pack("<4sIQ", b"KPAK", 1, 1 << 60).ljust(64, b"\0"), f"its table would begin at byte {1 << 60} of 64"),
    ],
)
def test_a_false_header_is_refused(damage: bytes, problem: str) -> None:
    with pytest.raises(InputError) as error:
        KpackReader(damage, "x.kpack")
    assert str(error.value) == f"x.kpack: malformed kpack archive: {problem}\n  cure: pack the catalog again"


def test_a_table_with_one_key_twice_is_refused() -> None:
    data = ARCHIVES["none"]
    (offset,) = struct.unpack_from("<8xQ", data)
    twice = b"\x82" + msgpack.packb("toc") + msgpack.packb({}) + msgpack.packb("toc") + msgpack.packb({})
    with pytest.raises(InputError, match="its table is not msgpack: key 'toc' is not text, or appears twice"):
        KpackReader(data[:offset] + twice, "x.kpack")


def with_frame(frame: bytes, original_size: int) -> bytes:
    """An archive with one compressed object, whatever its frame is."""
    area = struct.pack("<II", 1, len(frame)) + frame
    toc = {
        "format_version": 1,
        "group_name": "g",
        "gfx_arch_family": "gfx942",
        "gfx_arches": ["gfx942"],
        "toc": {"a": {"gfx942": {"type": "hsaco", "ordinal": 0, "original_size": original_size}}},
        "compression_scheme": "zstd-per-kernel",
        "zstd_offset": BLOB_START,
        "zstd_size": len(area),
    }
    header = struct.pack("<4sIQ", b"KPAK", 1, BLOB_START + len(area)).ljust(BLOB_START, b"\0")
    return header + area + msgpack.packb(toc)


def test_a_frame_that_grows_beyond_its_declared_size_is_cut_off() -> None:
    unsized = zstandard.ZstdCompressor(write_content_size=False)
    bomb = with_frame(unsized.compress(bytes(64 << 20)), 100)
    with pytest.raises(InputError, match="the table says 100"):
        KpackReader(bomb, "x.kpack").read("a", "gfx942")


def test_a_frame_and_a_table_that_disagree_are_refused() -> None:
    archive = with_frame(zstandard.ZstdCompressor().compress(b"x" * 10), 11)
    with pytest.raises(InputError) as error:
        KpackReader(archive, "x.kpack").read("a", "gfx942")
    assert 'malformed kpack archive: "a" declares 10 bytes, the table says 11' in str(error.value)


def test_a_frame_of_another_compressor_level_and_without_its_size_is_read() -> None:
    frame = zstandard.ZstdCompressor(level=19, write_content_size=False).compress(b"payload" * 9)
    assert KpackReader(with_frame(frame, 63), "x.kpack").read("a", "gfx942") == b"payload" * 9
