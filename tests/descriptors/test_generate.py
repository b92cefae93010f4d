"""Generated catalogs are the published one where there is one, the same every time, and refused where unsound."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small_selection import SMALL, kernel, made

from winnow.descriptors.generate import generate
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.errors import WinnowError
from winnow.selection.document import load_selection
from winnow.selection.expand import expand

DENSE = Path(__file__).parent.parent / "data" / "hipdnn" / "gfx950_attention_dense.yaml"
HEADS = {
    64: "8/1 8/8 10/10 12/12 16/2 16/16 20/20 32/4 32/8 32/32 64/8 128/128",
    128: "24/24 4/4 8/1 8/2 8/8 9/9 16/2 16/16 28/4 32/4 32/8 32/32 40/8 40/10 40/40 48/8 64/4 64/8 64/64 96/8 128/8",
}
TILES = {
    64: "256/64 128/32 128/64 128/128 256/32 256/128 256/256",
    128: "256/64 128/32 128/64 128/128 256/32 256/128",
}
SPEC_DEFAULTS: dict[str, Any] = {
    "sliding_window": 0,
    "ragged": False,
    "varlen": False,
    "paged": False,
    "persistent": False,
    "waves_per_eu": 2,
    "lds_k_group_pad": 8,
    "lds_v_row_pad": 32,
    "lazy_rescale": True,
    "wide_lds_dma": False,
    "interleave": False,
    "persist_decode": "auto",
    "num_persistent": 256,
    "block_size": 0,
    "num_kv_blocks": 0,
    "use_sinks": False,
}


def refusal(*kernels: str, **options: Any) -> str:
    with pytest.raises(WinnowError) as error:
        made(*kernels, **options)
    return str(error.value)


def dense() -> Catalog:
    selection = load_selection(DENSE)
    return generate(selection.selection.header(), expand(selection))


def published() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Names, specs and metadata of the published dense catalog, from its tables."""
    rows = []
    for head in (64, 128):
        for heads in HEADS[head].split():
            q, kv = map(int, heads.split("/"))
            for dtype in ("bf16", "fp16"):
                for causal in (True, False):
                    for tile in TILES[head].split():
                        m, n = map(int, tile.split("/"))
                        own = {"dtype": dtype, "head_size": head, "num_query_heads": q, "num_kv_heads": kv}
                        own |= {"causal": causal, "batch": 1, "seqlen_q": 512, "seqlen_kv": 512}
                        spec = {**own, **SPEC_DEFAULTS, "block_m": m, "block_n": n}
                        name = f"attention_dense.{dtype}_d{head}_hq{q}_kv{kv}_c{int(causal)}_bm{m}_bn{n}.gfx950"
                        metadata = {**own, "dtype": dtype.upper(), "causal": int(causal), "ragged": 0}
                        rows.append((name, spec, metadata | {"sliding_window": 0, "block_m": m, "block_n": n}))
    return rows


def test_the_published_catalog_of_840_kernels_comes_out():
    catalog = dense()
    kernels = [kernel for _, kernel in catalog.kernels()]
    assert len(kernels) == 840
    assert [(k.name, k.kernel_source["spec"], k.metadata) for k in kernels] == published()
    assert {(k.kernel_source["kind"], k.kernel_source["source"], k.kernel_source["builder"]) for k in kernels} == {
        ("rocke", "kernels/gfx950/attention_dense.py", "build_attention_dense")
    }
    ((file, kdp),) = catalog.kdps
    assert (file, kdp.name, kdp.arch) == (
        "gfx950_attention_dense.kdp.json",
        "hipkernel:gfx950_attention_dense",
        ["gfx950"],
    )
    record = json.loads(catalog.files()[file])
    assert list(record) == [
        *("version", "id", "name", "matchers", "engine", "dispatch"),
        *("provenance", "kernelDescriptors", "arch"),
    ]
    assert list(record["kernelDescriptors"][0]) == ["version", "id", "name", "kernel_source", "metadata", "priority"]
    assert list(record["kernelDescriptors"][0]["metadata"]) == [field.name for field in catalog.kmd[1].fields]
    assert catalog.ued[1].x_winnow is None, "without a manifest nothing is known of Winnow's own engine"


def test_a_catalog_is_the_same_bytes_for_every_hash_seed_and_directory(tmp_path: Path):
    outputs = []
    for seed in ("0", "77"):
        target = tmp_path / seed / "catalog"
        (tmp_path / seed).mkdir()
        command = [sys.executable, "-c", "from winnow.cli.app import main; main()", "generate"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
        asked = [*command, "--selection", str(DENSE), "-o", str(target)]
        done = subprocess.run(asked, cwd=tmp_path / seed, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append({path.name: path.read_bytes() for path in target.iterdir()})
    assert outputs[0] == outputs[1]
    assert outputs[0] == {name: text.encode() for name, text in dense().files().items()}


def test_native_generic_and_arch_less_kernels_with_equal_metadata_coexist():
    catalog = made(
        kernel("native", arch="[gfx1151]"),
        kernel("generic", arch="[gfx11-generic]", spec=", x: 1"),
        kernel("anywhere", arch="[]", spec=", x: 2"),
        arch="",
    )
    assert [(k.name, kdp.arch_of(k)) for kdp, k in catalog.kernels()] == [
        ("native", ["gfx1151"]),
        ("generic", ["gfx11-generic"]),
        ("anywhere", []),
    ]


@pytest.mark.parametrize("arches", [("[gfx1151]", "[gfx1151]"), ("[gfx11-generic]", "[gfx11-generic]"), ("[]", "[]")])
def test_two_of_one_tier_are_refused(arches: tuple[str, str]):
    said = refusal(kernel("a", arch=arches[0]), kernel("b", arch=arches[1], spec=", x: 1"), arch="")
    assert said == (
        "s.yaml:15: packs[0].kernels[1]: b and a have the same metadata and compete on a device\n"
        "  cure: a loader drops the whole engine: let a metadata field tell them apart, or remove one"
    )


def test_defaults_count_when_metadata_are_compared():
    assert "have the same metadata" in refusal(kernel("a"), kernel("b", spec=", x: 1", fast=0))


def test_the_same_kernel_again_is_left_out_with_a_note(tmp_path: Path, winnow, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "s.yaml"
    path.write_text(SMALL.replace("ARCH", "gfx950") + kernel("a") + kernel("a_again") + kernel("b", tile=8))
    code, out, err = winnow("generate", "--selection", path, "-o", tmp_path / "c")
    assert (code, out) == (0, f"{tmp_path / 'c'}: 2 kernels in 6 files\n")
    assert err == "winnow: a_again is left out: an earlier kernel is the same in all but its name\n"
    assert [k.name for _, k in read_catalog(tmp_path / "c").kernels()] == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kernels": [kernel("a", fast=-1)]},
            's.yaml:14: packs[0].kernels[0]: a: metadata field "fast" is -1, which readers take for "not set"\n'
            "  cure: leave the field out, or give it a real value",
        ),
        (
            {"kernels": [kernel("a")], "arch": "gfx94"},
            's.yaml:12: packs[0].arch[0]: unknown arch "gfx94" (did you mean "gfx942"?)',
        ),
        (
            {"kernels": [kernel("a").replace("kind: rocke", "kind: hiprtc_file")]},
            "s.yaml:14: packs[0].kernels[0]: a: the dialect packaged has no kernel source of kind hiprtc_file\n"
            "  cure: it has c, rocke, triton, hip, hsaco, embedded_source",
        ),
        (
            {"kernels": [kernel("a").replace("builder: b,", "")]},
            's.yaml:14: packs[0].kernels[0]: a: its kernel source of kind rocke has no "builder"',
        ),
        (
            {"kernels": [kernel("a")], "change": lambda t: t.replace("name: main", 'name: "../x"')},
            "s.yaml:14: packs[0].kernels[0]: the pack's name \"../x\" cannot be a part of a file's name\n"
            "  cure: use A-Z a-z 0-9 _ . -",
        ),
        (
            {"kernels": [kernel("a")], "change": lambda t: t.replace("name: main", "name: main\n  discriminator: add")},
            's.yaml:15: packs[0].kernels[0]: a: the engine\'s only pack "main" has the discriminator "add"\n'
            "  cure: leave it out: there is nothing to tell the pack from",
        ),
        (
            {
                "kernels": [kernel("a"), "- name: other\n  arch: [gfx950]\n  kernels:\n", kernel("b", tile=8)],
            },
            's.yaml:14: packs[0].kernels[0]: a: its pack "main" has no discriminator, '
            "and the engine has several packs\n"
            "  cure: name the operation that the pack is for, or say pack_discriminates: false",
        ),
        (
            {
                "kernels": [kernel("a")],
                "change": lambda t: (
                    t.replace("metadata_fields: [dtype, tile, fast]", "metadata_fields: [dtype, fast]")
                    .replace("tile: {field: tile}, ", "")
                    .replace("  bindings", "  matcher_only_fields: [tile]\n  bindings")
                ),
            },
            's.yaml:15: packs[0].kernels[0]: a: "tile" is matcher-only, but the spec bakes it\n'
            "  cure: list it under metadata_fields",
        ),
    ],
)
def test_pre_mint_checks_say_what_is_wrong(options: dict[str, Any], message: str):
    assert refusal(*options.pop("kernels"), **options) == message


def test_names_are_unique_in_the_whole_engine():
    said = refusal(kernel("a"), "- name: other\n  arch: [gfx942]\n  kernels:\n", kernel("a", tile=8))
    assert said.startswith('s.yaml:18: packs[1].kernels[0]: two kernels are called "a" (the first from s.yaml:14')


def test_packs_with_discriminators_match_their_operation_first():
    def two(text: str) -> str:
        return text.replace("name: main", "name: main\n  discriminator: add").replace(
            "name: other", "name: other\n  discriminator: sub"
        )

    catalog = made(kernel("a"), "- name: other\n  arch: [gfx950]\n  kernels:\n", kernel("b", tile=8), change=two)
    by_id = {umd.id: (name, umd.scope, umd.match_symbol) for name, umd in catalog.umds}
    assert [name for name, _ in catalog.kdps] == ["copy_main.kdp.json", "copy_other.kdp.json"]
    assert [[by_id[matcher] for matcher in kdp.matchers] for _, kdp in catalog.kdps] == [
        [
            ("operation_is_add.umd.json", "graph", "test.copy.add_match"),
            ("kernel_dtype_matches_graph.umd.json", "kernel", "test.copy.kernel_match"),
        ],
        [
            ("operation_is_sub.umd.json", "graph", "test.copy.sub_match"),
            ("kernel_dtype_matches_graph.umd.json", "kernel", "test.copy.kernel_match"),
        ],
    ]


def test_a_selection_alone_needs_a_directory(tmp_path: Path, winnow, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = winnow("generate", "--selection", DENSE)
    assert code == 2
    assert err == (
        f"winnow: {DENSE}: no manifest beside the selection says where its catalog is\n"
        "  cure: name the directory with -o, or the manifest with -m\n"
    )


def test_a_manifest_that_is_named_must_be_there(tmp_path: Path, winnow):
    missing = tmp_path / "engine.yaml"
    code, _, err = winnow("generate", "--selection", DENSE, "-o", tmp_path / "c", "-m", missing)
    assert (code, err) == (
        2,
        f"winnow: {missing}: no such file\n"
        "  cure: run this in an engine's directory, name its manifest with -m, or make one: `winnow init`\n",
    )


def test_a_selection_of_another_engine_than_the_manifest_is_refused(small_engine: Path, winnow):
    manifest = small_engine / "engine.yaml"
    code, _, err = winnow("generate", "--selection", DENSE, "-m", manifest)
    assert code == 2
    assert err == (
        f'winnow: {DENSE}:6: engine.name: is for "hipkernel:Gfx950AttentionDense", '
        f'the manifest {manifest} for "winnow:GemmCpu"\n'
        "  cure: name the engine's own manifest with -m, or a directory of its own with -o\n"
    )


def test_a_selection_of_another_engine_with_a_directory_of_its_own_needs_no_manifest(
    small_engine: Path, tmp_path: Path, winnow, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(small_engine)
    code, out, err = winnow("generate", "--selection", DENSE, "-o", tmp_path / "dense")
    assert (code, out) == (0, f"{tmp_path}/dense: 840 kernels in 6 files\n")
    assert err == (
        'winnow: engine.yaml is for "winnow:GemmCpu", so "hipkernel:Gfx950AttentionDense" is generated without it\n'
    )
    monkeypatch.chdir(tmp_path)
    assert winnow("generate", "--selection", DENSE, "-o", tmp_path / "alone")[0] == 0
    assert winnow("diff", tmp_path / "dense", tmp_path / "alone")[0] == 0
