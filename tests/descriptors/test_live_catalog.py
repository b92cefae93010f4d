"""A catalog that is generated anew keeps its ids, and loses only the kernels that are named."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from small_selection import SMALL, kernel, made

from winnow.descriptors.generate import generate
from winnow.descriptors.ids import check_addition, keep_ids
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.errors import InputError, Place, Refused
from winnow.files import Kind, locked, write_atomic
from winnow.selection.document import parse_selection
from winnow.selection.expand import expand


def with_other_ids(catalog: Catalog, root: Path) -> Catalog:
    """The catalog on disk as another generator would have left it: ids of its own, in every place."""
    ids = {document.id for _, document in catalog.documents()} | {kernel.id for _, kernel in catalog.kernels()}
    for name, text in catalog.files().items():
        for i, own in enumerate(sorted(ids)):
            text = text.replace(own, f"00000000-0000-4000-8000-{i:012d}")
        write_atomic(root / name, text)
    return read_catalog(root)


def test_ids_of_a_live_catalog_stay_and_additions_get_their_own(tmp_path: Path):
    live = with_other_ids(made(kernel("a"), kernel("b", tile=8)), tmp_path)
    text = SMALL.replace("ARCH", "gfx950") + kernel("b", tile=8) + kernel("c", tile=2) + kernel("a")
    selection = parse_selection(text, "s.yaml")
    new = generate(selection.selection.header(), expand(selection), keep_ids(live))
    ids = {k.name: k.id for _, k in new.kernels()}
    assert {name: ids[name] for name in "ab"} == {k.name: k.id for _, k in live.kernels()}
    assert uuid.UUID(ids["c"]).version == 5
    ours, theirs = ([(name, d.id) for name, d in c.documents() if not name.endswith("kdp.json")] for c in (new, live))
    assert ours == theirs
    assert [(kdp.id, kdp.matchers, kdp.engine) for _, kdp in new.kdps] == [
        (kdp.id, kdp.matchers, kdp.engine) for _, kdp in live.kdps
    ]
    check_addition(live, new, [], Place("live"))


@pytest.mark.parametrize(
    ("kernels", "allowed", "message"),
    [
        (
            [kernel("b", tile=8)],
            [],
            "live: 1 kernel of the live catalog would be gone: a\n"
            "  cure: put them back into the selection, or say --allow-removal for each of them",
        ),
        ([kernel("b", tile=8)], ["a"], None),
        ([kernel("a"), kernel("b", tile=8)], ["a"], 'live: "a" is not removed\n  cure: nothing is known here'),
        (
            [kernel("a", tile=16), kernel("b", tile=8)],
            [],
            "live: a is another kernel than the one of that name in the live catalog: its kernel source differs\n"
            "  cure: give the new kernel a name of its own: what was measured of the old one is kept under its id",
        ),
    ],
)
def test_an_extension_is_an_addition(kernels: list[str], allowed: list[str], message: str | None):
    live = made(kernel("a"), kernel("b", tile=8))
    if message is None:
        check_addition(live, made(*kernels), allowed, Place("live"))
        return
    with pytest.raises((InputError, Refused)) as error:
        check_addition(live, made(*kernels), allowed, Place("live"))
    assert str(error.value) == message


def test_kept_ids_are_remembered_beside_the_manifest(small_engine: Path, tmp_path: Path, winnow):
    live = with_other_ids(read_catalog(small_engine / "catalog"), tmp_path / "live")
    manifest = small_engine / "engine.yaml"
    assert winnow("check", "-m", manifest, "regeneration")[0] == 0
    assert winnow("generate", "-m", manifest, "--keep-ids", tmp_path / "live")[0] == 0
    assert winnow("check", "-m", manifest, "regeneration", "structure")[0] == 0
    assert winnow("generate", "-m", manifest)[0] == 0
    again = read_catalog(small_engine / "catalog")
    assert [k.id for _, k in again.kernels()] == [k.id for _, k in live.kernels()]
    assert winnow("generate", "-m", manifest, "--check", "--keep-ids", tmp_path / "live")[0] == 0


def test_ids_that_another_writer_came_to_keep_meanwhile_are_kept(
    small_engine: Path, tmp_path: Path, winnow, monkeypatch: pytest.MonkeyPatch
):
    live = with_other_ids(read_catalog(small_engine / "catalog"), tmp_path / "live")
    manifest = small_engine / "engine.yaml"

    def locked_late(target: Path, kind: Kind, *, wait_s: float):
        monkeypatch.undo()
        assert winnow("generate", "-m", manifest, "--keep-ids", tmp_path / "live")[0] == 0
        return locked(target, kind, wait_s=wait_s)

    monkeypatch.setattr("winnow.steps.generate.locked", locked_late)
    assert winnow("generate", "-m", manifest)[0] == 0
    assert [k.id for _, k in read_catalog(small_engine / "catalog").kernels()] == [k.id for _, k in live.kernels()]


def test_a_catalog_behind_a_link_is_written_there(small_engine: Path, tmp_path: Path, winnow):
    (small_engine / "catalog").rename(tmp_path / "store")
    (small_engine / "catalog").symlink_to(tmp_path / "store")
    next((tmp_path / "store").glob("*.kdp.json")).unlink()
    assert winnow("generate", "-m", small_engine / "engine.yaml")[0] == 0
    assert (small_engine / "catalog").is_symlink()
    assert winnow("check", "-m", small_engine / "engine.yaml", "regeneration")[0] == 0


def test_check_names_what_differs_and_writes_nothing(small_engine: Path, winnow):
    manifest = small_engine / "engine.yaml"
    path = next((small_engine / "catalog").glob("*blocked*.kdp.json"))
    text = path.read_text().replace('"priority": 40', '"priority": 41', 1)
    path.write_text(text)
    code, out, _ = winnow("generate", "-m", manifest, "--check")
    assert code == 1
    assert "differs from what the selection generates in priority" in out
    assert path.read_text() == text


def test_removals_are_allowed_only_of_a_live_catalog(small_engine: Path, winnow):
    code, _, err = winnow("generate", "-m", small_engine / "engine.yaml", "--allow-removal", "x")
    assert (code, err) == (
        2,
        "winnow: --allow-removal says what of a live catalog may go\n  cure: name the catalog with --keep-ids\n",
    )
