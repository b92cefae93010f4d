"""The Triton compiler behind the pack: AMD objects that were packed on a machine without a GPU, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pack_samples as samples
import pytest
from triton_samples import product

from winnow.archive.verify import open_shard
from winnow.compilers.find import Language
from winnow.compilers.triton import COMPILER, find_triton
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError, Place, Refused
from winnow.families.attention_dense import DenseAttentionRequest
from winnow.families.attention_dense.forward import source_of
from winnow.families.attention_dense.space import ALGORITHM
from winnow.pack.cache import ObjectCache
from winnow.pack.compile import Request, compile_all
from winnow.pack.shard import pack_arch, silent

ALLOWED = frozenset({"pack_triton_kernels"})
SOURCE = {"kind": "triton", "source": "pack_triton_kernels.py", "builder": "build_product"}
ENGINE = Path(str(resources.files("winnow"))) / "engines" / "attention_gfx950"

pytestmark = pytest.mark.slow


def kernels(arch: str, *tiles: int, builder: str = "build_product") -> Catalog:
    source = {**SOURCE, "builder": builder}
    return samples.catalog(
        *(samples.kernel(f"t{tile}", tile=tile, source=source, arch=[arch]) for tile in tiles), arch=[arch]
    )


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_packed_objects_are_the_same_for_any_jobs_and_say_what_they_need(tmp_path: Path) -> None:
    catalog = kernels("gfx12-generic", 16, 32, 64)
    for jobs in (1, 2):
        report = pack_arch(catalog, "gfx1201", tmp_path / str(jobs), allowed=ALLOWED, jobs=jobs)
        assert (report.kernels, report.built, report.targets) == (3, 3, {"gfx12-generic": 3})
        assert 0 < report.slowest_s <= report.compile_s
    assert files(tmp_path / "1") == files(tmp_path / "2")
    shard = open_shard(tmp_path / "1", "gfx1201")
    assert {code.resources["generic_version"] for code in shard.objects.values()} == {1}
    assert [argument.name for code in shard.objects.values() for argument in code.signature][-2:] == [
        "global_scratch",
        "profile_scratch",
    ]


def test_an_object_with_more_local_memory_than_its_target_is_refused(tmp_path: Path) -> None:
    """The compiler makes it without complaint; no launch of it could ever succeed."""
    with pytest.raises(Refused) as error:
        pack_arch(kernels("gfx942", 256), "gfx942", tmp_path, allowed=ALLOWED, jobs=1)
    assert str(error.value) == (
        "packs/main.kdp.json: kernelDescriptors[0]: t256: needs 131072 bytes of local memory, gfx942 has 65536\n"
        "  cure: take the variant out of the selection"
    )
    assert not (tmp_path / "gfx942").exists()


def test_a_limit_of_the_manifest_refuses_what_the_target_could_run(tmp_path: Path) -> None:
    with pytest.raises(Refused) as error:
        pack_arch(kernels("gfx950", 256), "gfx950", tmp_path, allowed=ALLOWED, jobs=1, limits={"vgpr_spills": 8})
    said = str(error.value)
    assert said.startswith("packs/main.kdp.json: kernelDescriptors[0]: t256: has ")
    assert " spilled vector registers, the manifest allows 8\n" in said


def test_a_predicate_that_reads_a_field_that_is_not_there_names_builder_field_and_kernel(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        pack_arch(kernels("gfx950", 32, builder="build_hasty"), "gfx950", tmp_path, allowed=ALLOWED, jobs=1)
    assert str(error.value) == (
        "packs/main.kdp.json: kernelDescriptors[0].kernel_source.spec: t32: pack_triton_kernels.supports_hasty, the "
        "predicate of pack_triton_kernels.build_hasty, raised AttributeError: 'ProductSpec' object has no attribute "
        "'tiel' (it reads the field \"tiel\")\n  cure: a predicate that raises judges nothing: mend it"
    )


def requests(*sizes: int, target: str = "gfx1201") -> list[Request]:
    language = Language(COMPILER, find_triton())
    sources = [product("product", 32, options=(("matrix_instr_nonkdim", size),)) for size in sizes]
    return [Request(source.symbol, Place("x"), language, source, target) for source in sources]


def test_settings_that_change_nothing_are_compiled_once(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    compiled = compile_all(requests(0, 16, 32), cache=cache, jobs=1, progress=silent)
    assert (compiled.built, compiled.alike, compiled.cached) == (1, 2, 0)
    assert len({code.sha256 for code in compiled.objects}) == 1
    again = compile_all(requests(32, 16), cache=cache, jobs=1, progress=silent)
    assert (again.built, again.alike, again.cached) == (0, 0, 2)
    assert again.objects == compiled.objects[:2]


def test_what_the_cache_holds_changes_no_object(tmp_path: Path) -> None:
    cold = compile_all(requests(0, 16, 32), cache=None, jobs=1, progress=silent)
    alone = [compile_all(requests(size), cache=None, jobs=1, progress=silent).objects[0] for size in (0, 16, 32)]
    cache = ObjectCache(tmp_path)
    compile_all(requests(32), cache=cache, jobs=1, progress=silent)
    warm = compile_all(requests(0, 16, 32), cache=cache, jobs=1, progress=silent)
    assert (warm.built, warm.cached) == (1, 1)
    assert list(cold.objects) == list(warm.objects) == alone


@pytest.mark.parametrize(
    ("arch", "changes"), [("gfx942", ({"matrix_size": 0}, {"matrix_size": 32})), ("gfx1201", ({}, {"waves_per_eu": 1}))]
)
def test_settings_without_effect_give_one_object_under_one_symbol(arch: str, changes: tuple[dict, dict]) -> None:
    request = DenseAttentionRequest(
        arch=arch, dtype="fp16", num_query_heads=8, num_kv_heads=8, seqlen_q=512, seqlen_kv=512, head_size=64
    )
    small = {"block_m": 64, "block_n": 32}
    specs = [replace(ALGORITHM.select(request), **small, **change) for change in changes]
    assert specs[0].kernel_name() != specs[1].kernel_name()
    one, other = (COMPILER.compile(source_of(spec, arch), arch, find_triton()) for spec in specs)
    assert one.payload == other.payload


def test_settings_that_change_the_code_are_compiled_each() -> None:
    one, other = requests(0, 0)
    other = replace(other, source=replace(other.source, num_warps=8))
    compiled = compile_all([one, other], cache=None, jobs=1, progress=silent)
    assert (compiled.built, compiled.alike) == (2, 0)


def shortened(engine: Path) -> None:
    """Keep one shape of each head size and two tiles: four kernels of the 840."""
    seen: set[str] = set()
    kept = []
    for line in (engine / "selection.yaml").read_text().splitlines():
        words = line.strip()
        if words.startswith("- {dtype:"):
            tiles = words.rpartition("knobs: ")[2]
            if tiles in seen:
                continue
            seen.add(tiles)
        if words.startswith("- {block_m:") and words not in (
            "- {block_m: 128, block_n: 32}",
            "- {block_m: 128, block_n: 64}",
        ):
            continue
        kept.append(line)
    (engine / "selection.yaml").write_text("\n".join(kept) + "\n")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of attention_gfx950, packed by the command line."""
    from winnow.cli.app import run

    engine = tmp_path_factory.mktemp("engine") / "dense"
    assert run(["init", str(engine), "--from", "attention_gfx950"]) == 0
    shortened(engine)
    manifest = str(engine / "engine.yaml")
    assert run(["generate", "-m", manifest]) == 0
    assert run(["pack", "-m", manifest, "--arch", "gfx950", "-j", "2"]) == 0
    return engine


GATES = ("registry", "regeneration", "header", "budget", "structure", "tuples", "resources", "agreement", "archive")


def test_the_dense_engine_is_packed_and_passes_its_gates(
    packed: Path, winnow: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, _ = winnow("check", "-m", packed / "engine.yaml", *GATES)
    assert (code, out.count(" passed ")) == (0, len(GATES))
    assert "4 kernels in 1 packed shard" in out
    code, out, _ = winnow("check", "-m", packed / "engine.yaml", "launch-surface")
    assert code == 0, out
    code, out, _ = winnow("check", "-m", packed / "engine.yaml", "agreement", "--mode", "structural")
    assert code == 3
    assert "compiled specialization agreement: NOT CHECKED for 4 kernels" in out
    code, out, _ = winnow("pack", "-m", packed / "engine.yaml", "--arch", "gfx950")
    assert code == 0
    assert "(0 compiled, 0 alike, 4 from the cache)" in out


def test_an_object_is_shown_with_all_that_it_says_of_itself(
    packed: Path, tmp_path: Path, winnow: Callable[..., tuple[int, str, str]]
) -> None:
    code = next(iter(open_shard(packed / "build" / "archive", "gfx950").objects.values()))
    path = tmp_path / "kernel.hsaco"
    path.write_bytes(code.payload)
    exit_code, out, _ = winnow("inspect", path)
    rows = dict(line.split()[:2] for line in out.splitlines() if line.startswith("  "))
    assert exit_code == 0
    assert (rows["target"], rows["wave_size"], rows["vgpr_spills"]) == ("gfx950", "64", "0")
    assert min(int(rows[name]) for name in ("matrix_instructions", "lds_bytes", "vgprs", "kernarg_bytes")) > 0
    assert f"arguments of {code.symbol} (10)" in out
    path.write_bytes(code.payload.replace(b"winnow.matrix_instructions", b"another.compilers.own.word"))
    assert "matrix_instructions  not stated\n" in winnow("inspect", path)[1]


def metadata_alone(engine: Path) -> None:
    path = next((engine / "build/archive/gfx950").glob("*.kdp.json"))
    path.write_text(path.read_text().replace('"block_n": 32', '"block_n": 128', 1))


def archive_byte(engine: Path) -> None:
    path = next((engine / "build/archive/gfx950/kpack").iterdir())
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)


def sidecar_gone(engine: Path) -> None:
    next((engine / "build/archive/gfx950").glob("*.provenance.json.gz")).unlink()


def marker_gone(engine: Path) -> None:
    (engine / "build/archive/gfx950/hkp-packed.marker").unlink()


@pytest.mark.parametrize(
    ("mutate", "gates", "expected"),
    [
        (metadata_alone, ("archive", "agreement", "resources"), 1),
        (archive_byte, ("archive", "agreement", "resources"), 1),
        (sidecar_gone, ("archive", "agreement", "resources"), 1),
        (marker_gone, ("archive", "agreement", "resources"), 1),
    ],
)
def test_a_mutation_turns_its_gates_red(
    packed: Path,
    tmp_path: Path,
    winnow: Callable[..., tuple[int, str, str]],
    mutate: Callable[[Path], None],
    gates: tuple[str, ...],
    expected: int,
) -> None:
    engine = tmp_path / "engine"
    shutil.copytree(packed, engine)
    mutate(engine)
    for gate in gates:
        assert winnow("check", "-m", engine / "engine.yaml", gate)[0] == expected


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ('"block_n": 64', '"block_n": 7', 1, "block_n=7 is not one of 32, 64, 128, 256"),
        ('"block_n": 64', '"block_n": 128', 1, "metadata says block_n = 64, but 128 is what is compiled"),
    ],
)
def test_a_spec_that_was_edited_in_the_catalog_is_not_packed(
    packed: Path, tmp_path: Path, winnow: Callable[..., tuple[int, str, str]], old: str, new: str, code: int, said: str
) -> None:
    engine = tmp_path / "engine"
    shutil.copytree(packed, engine)
    path = next((engine / "catalog").glob("*.kdp.json"))
    text = path.read_text()
    at = text.index(old, text.index('"spec"'))
    path.write_text(text[:at] + new + text[at + len(old) :])
    answer = winnow("pack", "-m", engine / "engine.yaml", "--arch", "gfx950")
    assert answer[0] == code
    assert said in answer[2]
