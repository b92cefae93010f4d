"""A smaller catalog that serves what the larger one does not would lose shapes when the larger one is installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from planted_descriptors import change, pack


def test_a_part_of_the_catalog_passes_and_a_kernel_of_its_own_is_named(small_engine: Path, winnow):
    reduced = small_engine / "build" / "reduced" / "catalog"
    shutil.copytree(small_engine / "catalog", reduced)
    change(reduced / pack(small_engine).name, lambda d: d["kernelDescriptors"].pop())
    assert winnow("check", "-m", small_engine / "engine.yaml", "nesting")[0] == 0
    name = json.loads(pack(small_engine).read_text())["kernelDescriptors"][0]["name"]
    change(pack(small_engine), lambda d: d["kernelDescriptors"].pop(0))
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "nesting")
    assert code == 1
    assert f"{name}: is in {reduced} and the full catalog has no kernel from the same source and spec" in out


def test_a_wider_arch_list_is_named(small_engine: Path, winnow):
    reduced = small_engine / "build" / "reduced" / "catalog"
    shutil.copytree(small_engine / "catalog", reduced)
    change(reduced / pack(small_engine).name, lambda d: d["arch"].append("gfx942"))
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "nesting")
    assert code == 1
    assert "the full catalog has no kernel for these arches" in out


def test_objects_of_packed_shards_are_compared(small_engine: Path, winnow):
    shutil.copytree(small_engine / "catalog", small_engine / "build" / "reduced" / "catalog")
    shutil.copytree(small_engine / "build" / "archive", small_engine / "build" / "reduced" / "archive")
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "nesting")
    assert (code, "1 reduced catalog, 1 shard" in out) == (0, True)
    path = next((small_engine / "build" / "reduced" / "archive").rglob("*blocked*.kdp.json"))
    record = change(path, lambda d: d["kernelDescriptors"][0]["kernel_source"].update(sha256="0" * 64))
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "nesting")
    assert code == 1
    assert f"{record['kernelDescriptors'][0]['name']}: is in " in out


def test_one_binary_under_two_names_is_refused(small_engine: Path, winnow):
    record = json.loads(pack(small_engine).read_text())
    first = record["kernelDescriptors"][0]
    twin = {**first, "id": "1", "name": "twin", "metadata": {**first["metadata"], "max_m": 7}}
    change(pack(small_engine), lambda d: d["kernelDescriptors"].append(twin))
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "nesting")
    assert code == 1
    assert f"twin: is the same binary as {first['name']} under other metadata" in out
