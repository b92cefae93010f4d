"""Metadata that promises another kernel than was compiled serves wrong results, or nothing at all: refuse it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted_descriptors import change, change_kernel, pack

Edit = Callable[[dict[str, Any]], Any]


def refused(winnow: Any, engine: Path) -> str:
    code, out, err = winnow("check", "-m", engine / "engine.yaml", "contract")
    assert (code, err) == (1, ""), out
    return str(out)


def both(field: str, value: Any) -> Edit:
    """A change of the spec that metadata follows."""
    return lambda k: (k["kernel_source"]["spec"].update({field: value}), k["metadata"].update({field: value}))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda k: k["metadata"].update(reg_m=4), "metadata says reg_m = 4, but 2 is what is compiled"),
        (lambda k: k["metadata"].update(n_multiple=2), "metadata says n_multiple = 2, but 1 is what is compiled"),
        (lambda k: k["metadata"].update(rows=8), "metadata says rows = 8, but the kernel's spec has no such field"),
        (
            lambda k: k["metadata"].update(dtype="fp32"),
            "metadata says dtype = 'fp32', which no graph asks for (write 'FLOAT')",
        ),
        (
            lambda k: k["metadata"].update(dtype="float"),
            "metadata says dtype = 'float', which no graph asks for (known: ['FLOAT'])",
        ),
        (both("block_m", 50), "does not support this spec on"),
        (lambda k: k["kernel_source"]["spec"].update(wave=1), 'unknown key "wave"'),
        (lambda k: k["kernel_source"].update(source="os"), 'module "os" is not one that the manifest names'),
    ],
)
def test_a_kernel_that_is_not_what_it_says_is_named(small_engine: Path, winnow, edit: Edit, message: str):
    name = change_kernel(small_engine, edit)
    out = refused(winnow, small_engine)
    assert f"{name}: " in out
    assert message in out


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c["metadata_fields"].pop(), "do not split the declared fields between them"),
        (lambda c: c["matcher_only_fields"].append("reg_m"), "do not split the declared fields between them"),
        (lambda c: c["bindings"].pop("reg_m"), 'no binding for "reg_m"'),
        (lambda c: c.update(engine_id="x"), "the contract is not about this catalog's engine"),
    ],
)
def test_a_contract_that_does_not_cover_the_metadata_is_refused(small_engine: Path, winnow, edit: Edit, message: str):
    record = change(pack(small_engine), lambda d: edit(d["provenance"]["specialization_contract"]["consumers"][0]))
    out = refused(winnow, small_engine)
    assert f"{record['kernelDescriptors'][0]['name']}: " in out
    assert message in out


def test_a_pack_without_a_contract_is_refused(small_engine: Path, winnow):
    record = change(pack(small_engine), lambda d: d.pop("provenance"))
    assert f"{record['kernelDescriptors'][0]['name']}: no specialization contract" in refused(winnow, small_engine)


def test_a_field_that_the_binary_fixes_and_nothing_compares_is_refused(small_engine: Path, winnow):
    """A kernel for one layout that matches every layout computes nonsense and says nothing."""
    manifest = small_engine / "engine.yaml"
    manifest.write_text(manifest.read_text().replace("  b_layout: equal\n", "  b_layout: any\n"))
    name = json.loads(pack(small_engine).read_text())["kernelDescriptors"][0]["name"]
    assert f"{name}: its spec fixes \"b_layout\" = 'row', and no matcher compares that" in refused(winnow, small_engine)


def test_a_packed_kernel_that_was_changed_after_packing_is_named(small_engine: Path, winnow):
    """The digests of a shard are rewritten by whoever changes it; what was compiled is on record."""
    from winnow.archive.marker import MARKER

    shard = next((small_engine / "build" / "archive").iterdir())
    path = next(shard.rglob("*blocked*.kdp.json"))
    change(path, lambda d: d["kernelDescriptors"][0]["metadata"].update(reg_m=4))
    assert (shard / MARKER).is_file()
    assert f"{shard.name}: " in refused(winnow, small_engine)
