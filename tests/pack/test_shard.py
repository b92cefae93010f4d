"""A shard is what users install: it holds what the catalog says, and has the same bytes everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pack_samples as samples
from pack_samples import COMPILERS, kernel
from pack_shards import GENERIC, V3, digest, mixed, pack

from winnow.archive.kpack import KpackReader
from winnow.archive.verify import open_shard
from winnow.descriptors.tree import read_catalog
from winnow.pack.cache import ObjectCache
from winnow.pack.survivors import Shadowed
from winnow.targets.tiers import Tier


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


def test_a_shard_behind_a_link_is_written_there(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / V3).symlink_to(tmp_path / "store")
    pack(mixed(), tmp_path / "out")
    whole = digest(tmp_path / "store")
    next((tmp_path / "store").rglob("*.kpack")).unlink()
    pack(mixed(), tmp_path / "out")
    assert (tmp_path / "out" / V3).is_symlink()
    assert digest(tmp_path / "store") == whole


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
