"""An artefact of another time must not pass for today's: each is changed alone, and its gate must say so."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from winnow.engine_dir import EngineDir
from winnow.selection.author import author
from winnow.selection.document import load_selection
from winnow.selection.expand import expand
from winnow.steps.generate import write_catalog
from winnow.targets.cpu import host_level


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.fixture
def swept(small_engine: Path, winnow) -> Path:
    manifest = small_engine / "engine.yaml"
    assert winnow("sweep", "-m", manifest, "--rounds", "2")[0] == 0
    assert winnow("reduce", "-m", manifest)[0] == 0
    return small_engine


def test_an_archive_packed_under_another_matcher_is_refused(small_engine: Path, winnow):
    edit(small_engine / "engine.yaml", "  m: {at_most: max_m}", "  m: any")
    assert winnow("generate", "-m", small_engine / "engine.yaml")[0] == 0
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "archive")
    assert code == 1
    assert "gemm_cpu.ued.json: is another one in the" in out


def test_a_new_reduction_keeps_the_archive_of_the_former_one_for_the_gates_to_judge(swept: Path, winnow):
    packed = swept / "build" / "reduced" / "archive"
    shutil.copytree(swept / "build" / "archive", packed)
    before = {path: path.read_bytes() for path in packed.rglob("*") if path.is_file()}
    assert winnow("reduce", "-m", swept / "engine.yaml")[0] == 0
    assert {path: path.read_bytes() for path in packed.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in packed.parent.iterdir()) == [
        "archive", "catalog", "decisions.json", "selection.yaml",
    ]  # fmt: skip
    next((packed.parent / "catalog").glob("*.kdp.json")).unlink()
    code, out, _ = winnow("check", "-m", swept / "engine.yaml", "archive")
    assert code == 1
    assert "build/reduced/archive" in out


def test_a_reduction_that_fails_half_way_changes_nothing(swept: Path, winnow, monkeypatch: pytest.MonkeyPatch):
    reduced = swept / "build" / "reduced"
    before = {path: path.read_bytes() for path in reduced.rglob("*") if path.is_file()}

    def full(_: object) -> str:
        raise OSError(28, "No space left on device", "decisions.json")

    monkeypatch.setattr("winnow.steps.reduce.pretty_json", full)
    code, _, err = winnow("reduce", "-m", swept / "engine.yaml", "--apply-rules")
    assert (code, err.splitlines()[0]) == (2, "winnow: decisions.json: No space left on device")
    assert {path: path.read_bytes() for path in reduced.rglob("*") if path.is_file()} == before
    assert [path.name for path in reduced.parent.iterdir() if path.name.startswith(".")] == []


def test_a_missing_archive_is_incomplete_even_beside_a_reduced_one(swept: Path, winnow):
    shutil.copytree(swept / "build" / "archive", swept / "build" / "reduced" / "archive")
    shutil.rmtree(swept / "build" / "archive")
    for gate in ("archive", "serves"):
        code, out, _ = winnow("check", "-m", swept / "engine.yaml", gate)
        assert code == 3, gate
        assert "run `winnow pack` first" in out


def test_a_shard_without_its_marker_is_refused(small_engine: Path, winnow):
    (small_engine / "build" / "archive" / host_level() / "hkp-packed.marker").unlink()
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "archive")
    assert code == 1
    assert "no hkp-packed.marker: this is not a shard that a pack finished" in out


def test_a_sweep_of_another_corpus_or_of_other_objects_is_incomplete(swept: Path, winnow):
    graph = swept / "corpus" / "vit_b16_classifier_encode_m8.json"
    text = graph.read_text()
    graph.unlink()
    code, out, _ = winnow("check", "-m", swept / "engine.yaml", "reduction")
    assert code == 3
    assert (
        "the sweep was of another corpus (1 graph in one of them only, the first vit_b16_classifier_encode_m8)" in out
    )
    graph.write_text(text)
    assert winnow("check", "-m", swept / "engine.yaml", "reduction")[0] == 0

    engine = EngineDir(swept / "engine.yaml")
    with sqlite3.connect(engine.database) as db:
        (row,) = db.execute("SELECT sha256 FROM kernel LIMIT 1").fetchall()
        for table in ("kernel", "arm", "correctness"):
            db.execute(f"UPDATE {table} SET sha256 = ? WHERE sha256 = ?", ("0" * 64, *row))
    code, out, _ = winnow("check", "-m", swept / "engine.yaml", "reduction")
    assert code == 3
    assert "the sweep was of other objects (1 differ, the first gemm_" in out


def test_kernels_of_devices_that_nobody_measured_must_stay(small_engine: Path, winnow):
    other = "x86-64-v3" if host_level() == "x86-64-v2" else "x86-64-v2"
    manifest = small_engine / "engine.yaml"
    edit(manifest, f"candidates: {{arch: [{host_level()}]}}", f"candidates: {{arch: [{host_level()}, {other}]}}")
    for command in (
        ["enumerate"],
        ["generate"],
        ["pack", "--arch", host_level()],
        ["sweep", "--rounds", "2"],
        ["reduce"],
        ["check", "reduction"],
    ):
        code, out, err = winnow(*command, "-m", manifest)
        assert code == 0, out + err
    engine = EngineDir(manifest)
    file = engine.reduced / "selection.yaml"
    kept = [kernel for kernel in expand(load_selection(file)) if kernel.arch != (other,)]
    file.write_text(author(engine.selection.selection, kept))
    write_catalog(engine.manifest.manifest, load_selection(file), engine.reduced / "catalog")
    code, out, _ = winnow("check", "-m", manifest, "reduction")
    assert code == 1
    assert f".{other}: is gone from the reduced selection, but nothing was measured for its devices" in out


def test_decisions_about_something_else_are_refused(swept: Path, winnow):
    path = swept / "build" / "reduced" / "decisions.json"
    decisions = json.loads(path.read_text())
    decisions["kept"].append({"kernel": "stranger"})
    path.write_text(json.dumps(decisions))
    code, out, _ = winnow("check", "-m", swept / "engine.yaml", "reduction")
    assert code == 1
    assert "stranger: is kept by the decisions and not in the reduced selection" in out
    path.write_text("garbage")
    code, out, _ = winnow("check", "-m", swept / "engine.yaml", "reduction")
    assert code == 2
    assert "malformed JSON" in out


def test_a_kernel_for_every_arch_is_asked_of_every_arch(small_engine: Path, winnow):
    selection = small_engine / "selection.yaml"
    edit(selection, f"arch: [{host_level()}]", "arch: []")
    edit(selection, "streams: 1", "streams: 7")
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "registry")
    assert code == 1
    assert "streams=7 is not one of" in out


def test_an_arch_that_is_listed_twice_is_refused(small_engine: Path, winnow):
    edit(small_engine / "selection.yaml", f"arch: [{host_level()}]", f"arch: [{host_level()}, {host_level()}]")
    code, _, err = winnow("generate", "-m", small_engine / "engine.yaml")
    assert code == 2
    assert f'arch "{host_level()}" is listed twice' in err


def test_a_selection_that_is_not_the_approved_one_is_refused(small_engine: Path, winnow):
    manifest = small_engine / "engine.yaml"
    assert winnow("plan", "-m", manifest, "--approve", "--reason", "first")[0] == 0
    assert winnow("check", "-m", manifest, "budget")[0] == 0
    edit(small_engine / "selection.yaml", "reg_m: 4", "reg_m: 8")
    code, out, _ = winnow("check", "-m", manifest, "budget")
    assert code == 1
    assert "since its approval, kernel" in out
