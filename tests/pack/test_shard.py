"""A shard is what users install: it must hold what the catalog says, the same bytes everywhere, or not appear."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pack_samples as samples
import pytest
from pack_samples import ALLOWED, COMPILERS, kernel

from winnow.archive.kpack import KpackReader
from winnow.archive.verify import open_shard
from winnow.descriptors.documents import Uhd, UhdTable
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.errors import InputError, Refused
from winnow.files import Kind, locked, write_atomic
from winnow.pack import shard as shard_module
from winnow.pack.cache import ObjectCache
from winnow.pack.shard import ShardReport, pack_arch, pack_arches
from winnow.pack.survivors import Shadowed
from winnow.targets.tiers import Tier

V3, V4, GENERIC = "x86-64-v3", "x86-64-v4", "x86-64-generic"


def pack(catalog: Catalog, out: Path, arch: str = V3, **changed: Any) -> ShardReport:
    return pack_arch(catalog, arch, out, **{"allowed": ALLOWED, "jobs": 1, "compilers": COMPILERS, **changed})


def digest(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def mixed() -> Catalog:
    return samples.catalog(
        kernel("native", tile=4, arch=[V3]),
        kernel("generic", tile=8, fast=True, arch=[GENERIC]),
        kernel("shadowed", tile=4, arch=[GENERIC]),
        kernel("v3", tile=16, arch=[V3]),
    )


def test_a_shard_holds_what_its_device_runs(tmp_path: Path) -> None:
    report = pack(mixed(), tmp_path)
    assert (report.kernels, report.objects, report.built, report.cached) == (3, 3, 3, 0)
    assert report.shadowed == (Shadowed("shadowed", "native"),)
    assert report.targets == {GENERIC: 1, V3: 2}
    assert report.path == tmp_path / V3
    archive = tmp_path / V3 / "kpack/winnow_Sample_x86-64-v3.kpack"
    assert report.archive_bytes == archive.stat().st_size
    opened = open_shard(tmp_path, V3, compilers=COMPILERS)
    packed = {k.name: opened.objects[k.id] for k in opened.kernels}
    assert {name: (o.target, o.tier) for name, o in packed.items()} == {
        "native": (V3, Tier.EXPLICIT),
        "generic": (GENERIC, Tier.GENERIC),
        "v3": (V3, Tier.EXPLICIT),
    }
    assert b"fp32 8 fast x86-64-generic" in packed["generic"].payload
    assert [argument.name for argument in packed["v3"].signature] == ["a", "b", "n"]
    reader = KpackReader(archive.read_bytes(), "x")
    assert (reader.group, reader.family, reader.arches) == ("winnow_Sample", V3, (V3,))
    assert {reader.type_of(*key) for key in reader.keys} == {"so"}


def test_shipped_descriptors(tmp_path: Path) -> None:
    pack(mixed(), tmp_path)
    names = set(digest(tmp_path / V3))
    assert names == {
        "hkp-packed.marker",
        "kpack/winnow_Sample_x86-64-v3.kpack",
        "match.umd.json",
        "packs/main.kdp.json",
        "packs/main.kdp.provenance.json.gz",
        "sample.kmd.json",
        "sample.udd.json",
        "sample.ued.json",
        "sample.uhd.json",
    }
    shipped = read_catalog(tmp_path / V3)
    (_, kdp) = shipped.kdps[0]
    assert (kdp.arch, kdp.provenance) == ([V3], None)
    first = kdp.kernels[0]
    assert (first.arch, first.provenance, first.metadata) == ([V3], None, kernel("native", tile=4).metadata)
    source = first.kernel_source
    assert list(source) == ["kind", "library", "toc_key", "symbol", "sha256", "signature"]
    assert (source["kind"], source["library"]) == ("kpack", "../kpack/winnow_Sample_x86-64-v3.kpack")
    assert source["signature"][1] == {"kind": "global_buffer", "size": 8, "offset": 8, "name": "b"}


def test_equal_objects_are_compiled_and_archived_once(tmp_path: Path) -> None:
    """Two kernels may differ in metadata that the binary does not bake."""
    fields = ["dtype", "tile", "tile_multiple"]
    contract = samples.contract(
        metadata_fields=fields, matcher_only_fields=["fast"], bindings={f: samples.BINDINGS[f] for f in fields}
    )
    spec = {"dtype": "fp32", "tile": 4}
    catalog = samples.catalog(kernel("a", spec=spec), kernel("b", spec=spec, metadata={"fast": 1}), provenance=contract)
    report = pack(catalog, tmp_path)
    assert (report.kernels, report.objects, report.built) == (2, 1, 1)
    opened = open_shard(tmp_path, V3, compilers=COMPILERS)
    assert len({k.source.toc_key for k in opened.kernels}) == 1


def test_one_spec_natively_and_through_a_generic_target_is_two_objects(tmp_path: Path) -> None:
    fields = ["dtype", "tile", "tile_multiple"]
    contract = samples.contract(
        metadata_fields=fields, matcher_only_fields=["fast"], bindings={f: samples.BINDINGS[f] for f in fields}
    )
    spec = {"dtype": "fp32", "tile": 4}
    catalog = samples.catalog(
        kernel("a", spec=spec, arch=[V3]), kernel("b", spec=spec, metadata={"fast": 1}, arch=[GENERIC]),
        provenance=contract,
    )  # fmt: skip
    assert pack(catalog, tmp_path).objects == 2
    opened = open_shard(tmp_path, V3, compilers=COMPILERS)
    assert {o.target for o in opened.objects.values()} == {V3, GENERIC}


def test_a_generic_target_has_a_shard_of_its_own(tmp_path: Path) -> None:
    report = pack(mixed(), tmp_path, GENERIC)
    assert (report.kernels, report.targets) == (2, {GENERIC: 2})
    assert open_shard(tmp_path, GENERIC, compilers=COMPILERS).arch == GENERIC


def test_a_pack_beside_another_is_told_before_it_compiles(tmp_path: Path) -> None:
    nothing = pytest.fail
    with locked(tmp_path / V4, Kind("anything", ("*",)), wait_s=0), pytest.raises(InputError) as error:
        pack_arches(mixed(), [V3, V4], tmp_path, allowed=ALLOWED, jobs=1, compilers=COMPILERS, progress=nothing)
    assert str(error.value).startswith(f"{tmp_path / V4}: another winnow (process {os.getpid()}, `")
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path / V4, Kind("anything", ("*",)), wait_s=0):
        pack(mixed(), tmp_path, V3)


def test_a_shard_behind_a_link_is_written_there(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / V3).symlink_to(tmp_path / "store")
    pack(mixed(), tmp_path / "out")
    whole = digest(tmp_path / "store")
    next((tmp_path / "store").rglob("*.kpack")).unlink()
    pack(mixed(), tmp_path / "out")
    assert (tmp_path / "out" / V3).is_symlink()
    assert digest(tmp_path / "store") == whole


def test_a_pack_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        pack(samples.catalog(kernel("other", arch=[V4])), tmp_path / "build" / "archive")
    assert list(tmp_path.iterdir()) == []


PACK_SCRIPT = """
    import sys
    from pathlib import Path
    from pack_samples import ALLOWED, COMPILERS, catalog, kernel
    from winnow.pack.shard import pack_arch
    kernels = [kernel(f"k{i}", tile=i, fast=bool(i % 2)) for i in (1, 2, 3, 4, 5, 6)]
    pack_arch(catalog(*kernels), "x86-64-v3", Path("out"), allowed=ALLOWED, jobs=int(sys.argv[1]), compilers=COMPILERS)
"""


def test_the_same_bytes_for_any_jobs_hash_seed_directory_and_locale(tmp_path: Path) -> None:
    digests = []
    for i, (jobs, seed, locale) in enumerate([("1", "0", "C"), ("3", "4711", "de_DE.UTF-8")]):
        folder = tmp_path / ("d" * (i + 1))
        folder.mkdir()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed, "LC_ALL": locale}
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(PACK_SCRIPT), jobs], cwd=folder, env=environment, check=True
        )
        digests.append(digest(folder / "out"))
    assert digests[0] == digests[1]
    assert len(digests[0]) == 9


def test_the_cache_changes_only_the_time(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path / "cache")
    seen: list[tuple[str, int, int]] = []
    cold = pack(mixed(), tmp_path / "a", cache=cache, progress=lambda *step: seen.append(step))
    assert seen[-1] == ("compile", 3, 3)
    assert ("check", 1, 3) in seen
    warm = pack(mixed(), tmp_path / "b", cache=cache)
    entry = next((tmp_path / "cache").rglob("*.object"))
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    mended = pack(mixed(), tmp_path / "c", cache=cache)
    without = pack(mixed(), tmp_path / "d")
    assert [(r.built, r.cached) for r in (cold, warm, mended, without)] == [(3, 0), (0, 3), (1, 2), (3, 0)]
    assert digest(tmp_path / "a") == digest(tmp_path / "b") == digest(tmp_path / "c") == digest(tmp_path / "d")


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
