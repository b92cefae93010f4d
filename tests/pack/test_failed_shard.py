"""A pack that fails says why, and leaves every shard as it was."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pack_samples as samples
import pytest
from pack_samples import ALLOWED, COMPILERS, kernel
from pack_shards import GENERIC, V3, V4, digest, mixed, pack

from winnow.archive.verify import open_shard
from winnow.descriptors.documents import Uhd, UhdTable
from winnow.errors import InputError, Refused
from winnow.files import Kind, locked, write_atomic
from winnow.pack import shard as shard_module
from winnow.pack.shard import pack_arches


def test_a_pack_beside_another_is_told_before_it_compiles(tmp_path: Path) -> None:
    nothing = pytest.fail
    with locked(tmp_path / V4, Kind("anything", ("*",)), wait_s=0), pytest.raises(InputError) as error:
        pack_arches(mixed(), [V3, V4], tmp_path, allowed=ALLOWED, jobs=1, compilers=COMPILERS, progress=nothing)
    assert str(error.value).startswith(f"{tmp_path / V4}: another winnow (process {os.getpid()}, `")
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path / V4, Kind("anything", ("*",)), wait_s=0):
        pack(mixed(), tmp_path, V3)


def test_a_pack_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        pack(samples.catalog(kernel("other", arch=[V4])), tmp_path / "build" / "archive")
    assert list(tmp_path.iterdir()) == []


def test_a_failing_arch_leaves_every_shard_as_it_was_but_the_others(tmp_path: Path) -> None:
    good = mixed()
    pack(good, tmp_path)
    before = digest(tmp_path / V3)
    bad = samples.catalog(kernel("generic", tile=8, fast=True, arch=[GENERIC]), kernel("v3", tile=7, arch=[V3]))
    with pytest.raises(Refused) as error:
        pack_arches(bad, [V3, V4], tmp_path, allowed=ALLOWED, jobs=1, compilers=COMPILERS)
    assert str(error.value) == (
        "1 of 2 architectures failed\n"
        "x86-64-v3: packs/main.kdp.json: kernelDescriptors[1].kernel_source.spec: v3: pack_samples.build_sample does "
        "not support this spec on x86-64-v3: tile 7 is odd\n"
        "  cure: take the variant out of the selection, or correct its spec"
    )
    assert digest(tmp_path / V3) == before
    assert open_shard(tmp_path, V4, compilers=COMPILERS).arch == V4
    assert sorted(path.name for path in tmp_path.iterdir()) == [V3, V4]


def test_an_arch_that_fails_alone_says_just_its_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no kernel of winnow:Sample is for gfx942: its shard would be empty"):
        pack_arches(mixed(), ["gfx942"], tmp_path, allowed=ALLOWED, jobs=1, compilers=COMPILERS)
    assert list(tmp_path.iterdir()) == []


def test_a_crash_while_writing_leaves_the_old_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(mixed(), tmp_path)
    before = digest(tmp_path)

    def full(path: Path, data: bytes | str) -> None:
        if path.name == "hkp-packed.marker":
            raise OSError(28, "No space left on device")
        write_atomic(path, data)

    monkeypatch.setattr(shard_module, "write_atomic", full)
    with pytest.raises(OSError, match="No space left"):
        pack(samples.catalog(kernel("other", tile=32)), tmp_path)
    assert digest(tmp_path) == before


def test_a_kernel_that_does_not_compile_is_named_with_what_the_compiler_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "build_sample", _builder_of(samples.SampleSource("s", "fail 'x' undeclared", ())))
    with pytest.raises(InputError) as error:
        pack(mixed(), tmp_path)
    assert str(error.value) == (
        "packs/main.kdp.json: kernelDescriptors[0]: native cannot be compiled for x86-64-v3: error: 'x' undeclared\n"
        "    sample.c:1: error: 'x' undeclared\n"
        "  cure: correct the kernel's source, or take the variant out of the selection"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_compiler_that_the_system_ends_is_a_matter_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "build_sample", _builder_of(samples.SampleSource("s", "die", ())))
    with pytest.raises(InputError) as error:
        pack(mixed(), tmp_path)
    assert str(error.value) == (
        "packs/main.kdp.json: kernelDescriptors[0]: native cannot be compiled for x86-64-v3: its worker died 2 times; "
        "the last died of SIGKILL (the system ends a process so when memory runs out)\n"
        "  cure: compile fewer kernels at a time (`-j`), or take the variant out of the selection"
    )


def _builder_of(source: Any) -> Any:
    def build_sample(spec: samples.SampleSpec, *, arch: str) -> Any:
        return source

    build_sample.__module__ = "pack_samples"
    return build_sample


def test_an_object_that_its_target_could_not_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = samples.catalog(kernel("k", arch=["gfx942"]), arch=["gfx942"])
    for needed, fits in ((65536, True), (65537, False)):
        monkeypatch.setattr(samples, "build_sample", _builder_of(samples.SampleSource("s", f"lds {needed}", ())))
        if fits:
            assert pack(catalog, tmp_path, "gfx942").kernels == 1
            continue
        with pytest.raises(Refused) as error:
            pack(catalog, tmp_path, "gfx942")
        assert str(error.value) == (
            "packs/main.kdp.json: kernelDescriptors[0]: k: needs 65537 bytes of local memory, gfx942 has 65536\n"
            "  cure: take the variant out of the selection"
        )


AT = "packs/main.kdp.json: kernelDescriptors[0]"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            {"kind": "sampel"},
            f'{AT}.kernel_source.kind: no compiler for kernel sources of kind "sampel" is installed\n'
            '  cure: did you mean "sample"?; compilers are entry points of the group winnow.compilers',
        ),
        (
            {"builder": "build_nothing", "source": "pack_bad_builders"},
            f"{AT}.kernel_source.kind: k: pack_bad_builders.build_nothing gave a NoneType, but kernel sources of kind "
            "sample are SampleSource",
        ),
        ({"build": {}}, f'{AT}.kernel_source: k: unknown key "build" in its kernel source'),
    ],
)
def test_sources_that_cannot_be_packed(tmp_path: Path, source: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        pack(samples.catalog(kernel("k", source=source)), tmp_path, allowed=ALLOWED | {"pack_bad_builders"})
    assert str(error.value) == said


def test_other_things_that_are_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    bare = kernel("k")
    source = {key: value for key, value in bare.kernel_source.items() if key != "spec"}
    with pytest.raises(InputError) as error:
        pack(samples.catalog(bare.model_copy(update={"kernel_source": source})), tmp_path)
    assert str(error.value) == f'{AT}.kernel_source: k: its kernel source has no "spec"'
    with pytest.raises(InputError) as error:
        pack(samples.catalog(bare.model_copy(update={"provenance": {"effective_spec": {}}})), tmp_path)
    assert str(error.value) == f"{AT}: k: effective_spec is the pack's to write"
    with pytest.raises(InputError) as error:
        pack(samples.catalog(kernel("k"), arch=["gfx950"]), tmp_path, "gfx950")
    assert str(error.value) == (
        f"{AT}.kernel_source.kind: k: the compiler for sample has no target gfx950\n"
        "  cure: it compiles for x86-64-v2, x86-64-v3, x86-64-v4, x86-64-generic, gfx942"
    )
    with pytest.raises(Refused, match="k: metadata says tile_multiple = 5, but 4 is what is compiled"):
        pack(samples.catalog(kernel("k", metadata={"tile_multiple": 5})), tmp_path)
    catalog = mixed()
    with pytest.raises(InputError) as error:
        pack(dataclasses.replace(catalog, udds=(("KPACK/x.udd.json", catalog.udds[0][1]),)), tmp_path)
    assert str(error.value) == 'KPACK/x.udd.json: the folder "kpack" is reserved for archives'
    table = Uhd(id=catalog.uhds[0][1].id, name="t", adapter="table", objective="max", table=UhdTable(artifact="m.bin"))
    with pytest.raises(InputError) as error:
        pack(dataclasses.replace(catalog, uhds=(("t.uhd.json", table),)), tmp_path)
    assert str(error.value) == "t.uhd.json: table.artifact: t: a heuristic with a file (m.bin) cannot be packed"
    assert list(tmp_path.iterdir()) == []


def test_code_that_changes_while_it_is_packed_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "pack_moving.py"
    text = "from pack_samples import SampleSource, SampleSpec, build_sample, supports_sample\n"
    module.write_text(
        text + "def build_moving(spec: SampleSpec, *, arch: str):\n    return build_sample(spec, arch=arch)\n"
    )
    module.write_text(module.read_text() + "supports_moving = supports_sample\n")
    monkeypatch.syspath_prepend(tmp_path)
    moving = kernel("k", source={"source": "pack_moving", "builder": "build_moving"})

    def edit(stage: str, done: int, total: int) -> None:
        if stage == "compile":
            module.write_text(module.read_text() + "# edited\n")

    with pytest.raises(InputError) as error:
        pack(samples.catalog(moving), tmp_path / "out", allowed=frozenset({"pack_moving"}), progress=edit)
    assert str(error.value) == (
        "k: pack_moving.py changed while the kernels built from it were compiled\n  cure: pack again"
    )
