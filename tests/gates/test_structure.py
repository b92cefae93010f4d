"""A tree that a loader would drop in part must be refused by name: what was dropped is not missed until it is slow."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted_descriptors import change, change_kernel, pack, to_own_file

Edit = Callable[[dict[str, Any]], Any]


def refused(winnow: Any, engine: Path) -> str:
    code, out, err = winnow("check", "-m", engine / "engine.yaml", "structure")
    assert (code, err) == (1, ""), out
    return str(out)


def test_a_sound_tree_passes(small_engine: Path, winnow):
    to_own_file(small_engine)
    assert winnow("check", "-m", small_engine / "engine.yaml", "structure")[0] == 0


KERNEL_DEFECTS: list[tuple[Edit, str]] = [
    (lambda k: k.pop("version"), "has no version: packers refuse that"),
    (lambda k: k["metadata"].update(reg_m=-1), 'metadata field "reg_m" is -1, which readers take for "not set"'),
    (lambda k: k["metadata"].update(reg_m="2"), "metadata field \"reg_m\" is of type int, the value is '2'"),
    (lambda k: k["metadata"].update(reg_m=True), 'metadata field "reg_m" is of type int, the value is True'),
    (lambda k: k["metadata"].update(reg_n=1), 'metadata field "reg_n" is not declared'),
    (lambda k: k["metadata"].pop("dtype"), 'no value for the metadata field "dtype", which has no default'),
    (lambda k: k.update(arch=["gfx942"]), "its arch list ['gfx942'] is wider than its pack's"),
    (lambda k: k.update(arch=["gfx94"]), 'unknown arch "gfx94" (did you mean "gfx942"?)'),
    (lambda k: k.update(arch=["gfx908"]), "is wider than its pack's"),
    (lambda k: k.update(arch=["mi300"]), 'arch "mi300" has not the shape of a target\'s name'),
    (lambda k: k.update(arch=["gfx9-4-generic"]), 'no table has members of the generic arch "gfx9-4-generic"'),
    (lambda k: k.update(arch=["gfx90a:xnack-"]), 'arch "gfx90a:xnack-" has a feature suffix: write "gfx90a"'),
    (lambda k: k["kernel_source"].pop("builder"), 'its kernel source of kind c has no "builder"'),
    (lambda k: k["kernel_source"].update(kind="cc"), 'its kernel source is of the unknown kind "cc"'),
    (lambda k: k["kernel_source"].update(specs={}), 'unknown key "specs" in its kernel source of kind c'),
    (lambda k: k.update(kernel_source={"kind": "hsaco", "file": "a", "symbol": "s"}, arch=[]), "for which arch it is"),
    (lambda k: k.update(provenance={"effective_spec": {}}), "effective_spec is the packer's to write"),
]


@pytest.mark.parametrize(("edit", "message"), KERNEL_DEFECTS, ids=[message[:40] for _, message in KERNEL_DEFECTS])
def test_a_kernel_that_loaders_or_packers_refuse_is_named(small_engine: Path, winnow, edit: Edit, message: str):
    name = change_kernel(small_engine, edit, 1)
    out = refused(winnow, small_engine)
    assert f"{name}: " in out
    assert message in out


def test_two_kernels_of_one_name_are_refused(small_engine: Path, winnow):
    """Names that leave a field out of the spec collide, and the stable key of a kernel is its name."""
    other = json.loads(pack(small_engine).read_text())["kernelDescriptors"][1]["name"]
    name = change_kernel(small_engine, lambda k: k.update(name=other), 0)
    assert f"{name}: another kernel in {pack(small_engine).name} has the same name" in refused(winnow, small_engine)


def test_one_id_for_two_is_refused(small_engine: Path, winnow):
    other = json.loads(pack(small_engine).read_text())["kernelDescriptors"][1]["id"]
    change_kernel(small_engine, lambda k: k.update(id=other), 0)
    out = refused(winnow, small_engine)
    assert f"id {other} (" in out
    assert "is also used in" in out


@pytest.mark.parametrize(
    ("pattern", "edit", "message"),
    [
        ("*blocked*.kdp.json", lambda d: d["matchers"].append("x"), "x names no umd of this catalog"),
        ("*blocked*.kdp.json", lambda d: d.update(dispatch="x"), "x names no udd of this catalog"),
        ("*blocked*.kdp.json", lambda d: d.update(engine="x"), "x names no ued of this catalog"),
        ("*.ued.json", lambda d: d.update(metadata="x"), "x names no kmd of this catalog"),
        ("*.ued.json", lambda d: d["sort_kernel_catalog"].update(gfx950="x"), "x names no uhd of this catalog"),
    ],
)
def test_a_reference_to_nothing_names_a_kernel_that_it_costs(
    small_engine: Path, winnow, pattern: str, edit: Edit, message: str
):
    change(next((small_engine / "catalog").glob(pattern)), edit)
    name = json.loads(pack(small_engine).read_text())["kernelDescriptors"][0]["name"]
    out = refused(winnow, small_engine)
    assert f"{name}: {message}" in out
    assert "kernels depend on it)" in out


@pytest.mark.parametrize(
    ("pattern", "edit", "message"),
    [
        ("*blocked*.kdp.json", lambda d: d["kernelDescriptors"].clear(), "the pack has no kernels"),
        ("*blocked*.kdp.json", lambda d: d["kernelDescriptors"].append("x"), "x names no ukd of this catalog"),
        ("*.ued.json", lambda d: d["knobs"].append("dtype"), 'knob "dtype" is of type string: only int fields'),
        ("*.ued.json", lambda d: d["knobs"].append("reg_n"), 'knob "reg_n" is not a metadata field'),
        ("*.ued.json", lambda d: d.pop("sdk_version"), "has no sdk_version"),
        (
            "*.ued.json",
            lambda d: d.update(heuristic=d.pop("sort_kernel_catalog")["default"]),
            'has the older key "heuristic"',
        ),
        ("*.kmd.json", lambda d: d["fields"].append(d["fields"][0]), "this metadata field is declared twice"),
        ("*.kmd.json", lambda d: d["fields"][0].update(default_value=3), "its default: metadata field"),
    ],
)
def test_a_defect_of_an_engine_is_listed(small_engine: Path, winnow, pattern: str, edit: Edit, message: str):
    change(next((small_engine / "catalog").glob(pattern)), edit)
    assert message in refused(winnow, small_engine)


def test_a_heuristic_without_its_file_is_refused(small_engine: Path, winnow):
    path = next((small_engine / "catalog").glob("*.uhd.json"))
    change(path, lambda d: (d.pop("native"), d.update(adapter="table", table={"artifact": "../model.bin"})))
    assert "its file ../model.bin lies outside the catalog" in refused(winnow, small_engine)
    change(path, lambda d: d.update(table={"artifact": "model.bin"}))
    assert "its file model.bin is missing" in refused(winnow, small_engine)


def test_a_kernel_that_no_pack_lists_is_refused(small_engine: Path, winnow):
    own = to_own_file(small_engine, 0)
    change(pack(small_engine), lambda d: d["kernelDescriptors"].pop(0))
    name = json.loads(own.read_text())["name"]
    assert f"{name}: no pack lists this kernel, so nothing ever loads it" in refused(winnow, small_engine)


def test_a_file_that_is_no_descriptor_is_unusable(small_engine: Path, winnow):
    pack(small_engine).write_text("{")
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "structure", "header")
    assert code == 2
    assert f"structure  unusable    {pack(small_engine)}:1: malformed JSON" in out
    assert "header     passed" in out


def test_findings_are_shown_although_later_gates_cannot_run(small_engine: Path, winnow):
    change(pack(small_engine), lambda d: d.update(dispatch="x"))
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml")
    assert code == 1
    assert "x names no udd of this catalog" in out
    assert "tuples          unusable" in out
