"""The reader that ships must see in a packed tree what the full reader sees, and refuse what that refuses."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pack_samples as samples
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pack_samples import ALLOWED, COMPILERS, kernel

from winnow.archive.sidecar import find_sidecar, read_sidecar
from winnow.archive.tree import read_packed
from winnow.archive.verify import open_shard
from winnow.descriptors.documents import Ukd
from winnow.descriptors.reading import descriptor_record
from winnow.descriptors.tree import read_catalog
from winnow.errors import InputError
from winnow.pack.shard import pack_arch

V3 = "x86-64-v3"
KDP, UED, KMD = "packs/main.kdp.json", "sample.ued.json", "sample.kmd.json"


@st.composite
def some_kernels(draw: st.DrawFn) -> list[Ukd]:
    """Kernels of distinct metadata; some leave a field to its default."""
    shapes = draw(st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=4, unique=True))
    found = []
    for i, (tile, fast) in enumerate(shapes):
        made = kernel(f"k{i}", tile=tile, fast=fast, arch=draw(st.sampled_from([None, [V3], ["x86-64-generic"]])))
        if not fast and draw(st.booleans()):
            made = made.model_copy(update={"metadata": {k: v for k, v in made.metadata.items() if k != "fast"}})
        found.append(made.model_copy(update={"priority": draw(st.integers(-3, 3))}))
    return found


@settings(max_examples=12, deadline=None)
@given(kernels=some_kernels(), note=st.dictionaries(st.text(max_size=4), st.none() | st.text(max_size=4), max_size=2))
def test_a_fresh_shard_reads_as_its_catalog_and_sidecar_say(kernels: list[Ukd], note: dict[str, Any]) -> None:
    noted = [one.model_copy(update={"provenance": {"note": note}}) for one in kernels]
    with tempfile.TemporaryDirectory() as folder:
        pack_arch(samples.catalog(*noted), V3, Path(folder), allowed=ALLOWED, jobs=1, compilers=COMPILERS)
        shard, catalog = open_shard(Path(folder), V3, compilers=COMPILERS), read_catalog(Path(folder, V3))
        recorded = {
            key: entry.provenance
            for name, _ in catalog.kdps
            for key, entry in read_sidecar(find_sidecar(Path(folder, V3, name))).items()
        }
    assert [
        (k.id, k.name, list(k.arch), k.metadata, k.completed, k.priority, dict(k.record)) for k in shard.kernels
    ] == [
        (k.id, k.name, p.arch_of(k), k.metadata, catalog.completed_metadata(k), k.priority, descriptor_record(k))
        for p, k in catalog.kernels()
    ]
    assert shard.provenance == recorded
    assert all(provenance["note"] == note for provenance in shard.provenance.values())
    engine_file, ued = catalog.ued
    assert shard.engine == type(shard.engine)(ued.id, ued.name, ued.ranked, ued.x_winnow, engine_file)
    declared = [(field.name, field.type, field.default_value) for field in catalog.kmd[1].fields]
    assert [(field.name, field.type, field.default_value) for field in shard.fields] == declared
    assert set(shard.objects) == {k.id for k in shard.kernels}


def shipped() -> dict[str, Any]:
    """The files of a catalog whose one kernel has a packed object, as plain data by name."""
    source = {
        "kind": "kpack",
        "library": "../kpack/x.kpack",
        "toc_key": "key",
        "symbol": "sample",
        "sha256": "0" * 64,
        "signature": [{"kind": "by_value", "size": 4, "offset": 0}],
    }
    one = kernel("k").model_copy(update={"kernel_source": source})
    return {name: json.loads(text) for name, text in samples.catalog(one).files().items()}


def texts(files: dict[str, Any]) -> dict[str, bytes]:
    return {name: json.dumps(data).encode() for name, data in files.items()}


def first(files: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = files[KDP]["kernelDescriptors"][0]
    return found


def test_a_tree_without_faults_is_read() -> None:
    files = shipped()
    tree = read_packed(Path("S"), texts(files))
    (only,) = tree.kernels
    assert only.source.signature == (("by_value", 4, 0, ""),)
    assert only.record == first(files)
    assert str(only.place) == f"S/{KDP}: kernelDescriptors[0]"
    assert tree.packs == (KDP,)


def test_a_kernel_in_a_file_of_its_own_is_the_one_that_its_pack_names() -> None:
    files = shipped()
    alone = {"version": "1.0", **first(files)}
    files[KDP]["kernelDescriptors"] = [alone["id"]]
    (only,) = read_packed(Path("S"), texts({**files, "k.ukd.json": alone})).kernels
    assert (only.name, only.pack, only.record) == ("k", KDP, alone)


def test_comments_and_hidden_files_are_passed_over() -> None:
    files = texts(shipped())
    files[UED] = b"// an engine\n" + files[UED]
    assert read_packed(Path("S"), {**files, ".old/x.ued.json": b"{", "note.json": b"{"}).engine.name == samples.ENGINE


Change = Callable[[dict[str, Any]], Any]

FAULTS: list[tuple[Change, str]] = [
    (lambda f: f.pop(UED), "S: 0 .ued.json files, expected one\n  cure: a shard holds one engine"),
    (lambda f: f.update({"b.kmd.json": f[KMD]}), "S: 2 .kmd.json files, expected one"),
    (lambda f: f.pop(KDP), "S: no .kdp.json file"),
    (lambda f: f[KDP].pop("version"), f'S/{KDP}:1: version: key "version" is missing'),
    (lambda f: f[KDP].update(version="2.0"), f"S/{KDP}:1: version: not \"1.0\" (value: '2.0')"),
    (lambda f: first(f).update(version="2.0"), "kernelDescriptors[0].version: not \"1.0\" (value: '2.0')"),
    (lambda f: f.update({UED: [1]}), f"S/{UED}:1: not a mapping (value: [1])"),
    (lambda f: f[UED].update(id=3), f"S/{UED}:1: id: not a string (value: 3)"),
    (lambda f: f[UED].update(knob=[]), 'knob: unknown key "knob"\n  cure: did you mean "knobs"?'),
    (lambda f: f[UED].update(heuristic="h"), "heuristic: has both heuristic and sort_kernel_catalog"),
    (lambda f: f[UED].update(metadata="m"), "metadata: m names no kmd of this shard\n  cure: pack the catalog again"),
    (lambda f: f[UED].update(sort_kernel_catalog={"default": ["u"]}), "default[0]: u names no uhd of this shard"),
    (lambda f: f[KDP].update(engine="e"), "engine: e names no ued of this shard"),
    (lambda f: f[KDP].update(dispatch="d"), "dispatch: d names no udd of this shard"),
    (lambda f: f[KDP].update(matchers=["m"]), "matchers[0]: m names no umd of this shard"),
    (lambda f: f[KDP].update(arch=[1]), "arch[0]: not a string (value: 1)"),
    (lambda f: f[KDP].update(kernelDescriptors={}), "kernelDescriptors: not a list (value: {})"),
    (lambda f: f[KDP].update(kernelDescriptors=["u"]), "kernelDescriptors[0]: u names no ukd of this shard"),
    (lambda f: f[KDP].update(kernelDescriptors=[1]), "kernelDescriptors[0]: not a kernel or the id of one (value: 1)"),
    (lambda f: f[KDP]["kernelDescriptors"].append(first(f)), "kernelDescriptors[1]: k ("),
    (lambda f: f["sample.udd.json"].update(id=f[UED]["id"]), "names no udd of this shard"),
    (lambda f: first(f).update(id=f[UED]["id"]), f"(k) is also used in {UED}\n  cure: give each descriptor an id"),
    (lambda f: first(f).update(prority=1), 'unknown key "prority"\n  cure: did you mean "priority"?'),
    (lambda f: first(f).update(priority=True), "kernelDescriptors[0].priority: not an integer (value: True)"),
    (
        lambda f: first(f)["metadata"].update(tile=None),
        "metadata.tile: not a truth value, a number, a string or a list",
    ),
    (lambda f: first(f)["metadata"].update(tile=[1, "a"]), "metadata.tile: not a truth value, a number, a string or a"),
    (lambda f: first(f).update(kernel_source=[]), "kernelDescriptors[0].kernel_source: not a mapping (value: [])"),
    (lambda f: first(f)["kernel_source"].update(extra=1), 'kernel_source.extra: unknown key "extra"'),
    (lambda f: first(f)["kernel_source"].pop("symbol"), 'kernel_source.symbol: key "symbol" is missing'),
    (lambda f: first(f)["kernel_source"].update(signature=[1]), "kernel_source.signature[0]: not a mapping (value: 1)"),
    (
        lambda f: first(f)["kernel_source"]["signature"][0].update(size="4"),
        "kernel_source.signature[0].size: not an integer (value: '4')",
    ),
    (
        lambda f: f[KMD]["fields"][0].update(type="text"),
        "fields[0].type: not one of bool, int, float, string, int_list",
    ),
    (lambda f: f[KMD]["fields"][0].update(default_value={}), "fields[0].default_value: not a truth value, a number"),
    (lambda f: f[KMD]["fields"][0].update(unit="B"), 'fields[0].unit: unknown key "unit"'),
]


@pytest.mark.parametrize(("change", "said"), FAULTS)
def test_a_faulty_descriptor_is_named(change: Change, said: str) -> None:
    files = shipped()
    change(files)
    with pytest.raises(InputError) as error:
        read_packed(Path("S"), texts(files))
    assert said in str(error.value)


def test_bytes_that_are_not_text_are_named() -> None:
    with pytest.raises(InputError) as error:
        read_packed(Path("S"), {**texts(shipped()), UED: b"\xff"})
    assert str(error.value) == f"S/{UED}: not UTF-8 text: invalid start byte"
