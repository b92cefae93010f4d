"""The real C compiler behind the pack: what is installed must be what was compiled, on every machine alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pack_samples as samples
import pytest

from winnow.archive.verify import open_shard
from winnow.compilers.c import COMPILER
from winnow.descriptors.tree import Catalog
from winnow.devices.cpu import CpuDevice
from winnow.errors import InputError
from winnow.pack.cache import ObjectCache
from winnow.pack.shard import pack_arch
from winnow.targets.cpu import host_level
from winnow.targets.tiers import Tier

ALLOWED = frozenset({"pack_c_kernels"})
C = {"c": COMPILER}
SOURCE = {"kind": "c", "source": "pack_c_kernels.py", "builder": "build_scale"}


def kernels(*tiles: int) -> Catalog:
    return samples.catalog(*(samples.kernel(f"t{tile}", tile=tile, source=SOURCE) for tile in tiles))


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_packed_kernels_run_and_are_byte_identical_for_any_jobs(tmp_path: Path) -> None:
    catalog = samples.catalog(
        *(samples.kernel(f"t{tile}", tile=tile, source=SOURCE, arch=["x86-64-generic"]) for tile in (4, 8, 16)),
        arch=["x86-64-generic"],
    )
    arch = host_level()
    for jobs in (1, 2):
        pack_arch(catalog, arch, tmp_path / str(jobs), allowed=ALLOWED, jobs=jobs, compilers=C)
    assert files(tmp_path / "1") == files(tmp_path / "2")
    shard = open_shard(tmp_path / "1", arch, compilers=C)
    with CpuDevice() as device:
        for packed in shard.objects.values():
            assert (packed.target, packed.tier) == ("x86-64-generic", Tier.GENERIC)
            assert [(a.name, a.size, a.offset) for a in packed.signature] == [
                ("in", 8, 0),
                ("out", 8, 8),
                ("n", 4, 16),
                ("scale", 4, 20),
            ]
            given, taken = device.allocate(40), device.allocate(40)
            given.bytes_.view(np.float32)[:] = np.arange(10)
            module = device.load(packed.payload, packed.symbol, packed.signature)
            device.launch(module, {"in": given, "out": taken, "n": 10, "scale": 0.5}, (1, 1, 1))
            assert taken.bytes_.view(np.float32).tolist() == [i / 2 for i in range(10)]
            given.free()
            taken.free()


def test_native_and_generic_objects_of_one_catalog_differ_in_their_target(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path / "cache")
    for arch, target in (("x86-64-v3", "x86-64-v3"), ("x86-64-v2", "x86-64-generic")):
        report = pack_arch(kernels(4), arch, tmp_path, allowed=ALLOWED, jobs=1, cache=cache, compilers=C)
        assert (report.targets, report.built) == ({target: 1}, 1)
        (packed,) = open_shard(tmp_path, arch, compilers=C).objects.values()
        assert packed.target == target
    again = pack_arch(kernels(4), "x86-64-v3", tmp_path / "b", allowed=ALLOWED, jobs=1, cache=cache, compilers=C)
    assert (again.built, again.cached) == (0, 1)
    assert files(tmp_path / "x86-64-v3") == files(tmp_path / "b" / "x86-64-v3")


def test_a_kernel_with_a_mistake_is_named_with_the_compilers_words(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        pack_arch(kernels(4, 13), "x86-64-v3", tmp_path, allowed=ALLOWED, jobs=2, compilers=C)
    said = str(error.value)
    assert said.startswith("packs/main.kdp.json: kernelDescriptors[1]: t13 cannot be compiled for x86-64-v3: ")
    assert "scael" in said
    assert said.endswith("\n  cure: correct the kernel's source, or take the variant out of the selection")
    assert not (tmp_path / "x86-64-v3").exists()


def test_without_a_compiler_nothing_is_packed_and_the_cure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError) as error:
        pack_arch(kernels(4), "x86-64-v3", tmp_path, allowed=ALLOWED, jobs=1, compilers=C)
    assert str(error.value).startswith("no C compiler found")
    assert "cure: install a C compiler" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_the_installed_compiler_is_found_by_its_kind(tmp_path: Path) -> None:
    pack_arch(kernels(4), "x86-64-v3", tmp_path, allowed=ALLOWED, jobs=1)
    assert len(open_shard(tmp_path, "x86-64-v3").objects) == 1
