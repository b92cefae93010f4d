"""One pair of kernels with equal metadata costs a whole engine when it is loaded, so it must be refused before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted_descriptors import change, change_kernel, pack


def test_equal_metadata_is_refused_by_name(small_engine: Path, winnow):
    first = json.loads(pack(small_engine).read_text())["kernelDescriptors"][0]
    name = change_kernel(small_engine, lambda k: k.update(metadata=first["metadata"]), 1)
    code, out, _ = winnow("check", "-m", small_engine / "engine.yaml", "tuples")
    assert code == 1
    assert f"{name}: has the metadata of {first['name']} and competes with it on a device" in out


def test_a_default_that_is_written_out_is_no_difference(small_engine: Path, winnow):
    first = json.loads(pack(small_engine).read_text())["kernelDescriptors"][0]
    spelled = {**first["metadata"], "rows": 0, "prefetch": 0}
    change_kernel(small_engine, lambda k: k.update(metadata=spelled), 1)
    assert winnow("check", "-m", small_engine / "engine.yaml", "tuples")[0] == 1


@pytest.mark.parametrize(("arches", "code"), [(["gfx11-generic", "gfx1151"], 0), (["gfx1151", "gfx1151"], 1)])
def test_kernels_of_different_tiers_coexist(small_engine: Path, winnow, arches: list[str], code: int):
    first = json.loads(pack(small_engine).read_text())["kernelDescriptors"][0]
    change(pack(small_engine), lambda d: d.update(arch=[]))
    for index, arch in enumerate(arches):
        change_kernel(small_engine, lambda k, arch=arch: k.update(arch=[arch], metadata=first["metadata"]), index)
    assert winnow("check", "-m", small_engine / "engine.yaml", "tuples")[0] == code
