"""Defects of descriptors that were really shipped: each is planted here, and one gate must name the kernel."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted_descriptors import change, change_kernel, pack


def first(engine: Path) -> dict[str, Any]:
    kernel: dict[str, Any] = json.loads(pack(engine).read_text())["kernelDescriptors"][0]
    return kernel


def one_duplicate_tuple_drops_the_engine(engine: Path) -> str:
    metadata = first(engine)["metadata"]
    return change_kernel(engine, lambda k: k.update(metadata=metadata), 1)


def metadata_that_is_not_what_was_compiled(engine: Path) -> str:
    return change_kernel(engine, lambda k: k["metadata"].update(block_n=96))


def a_shape_of_the_smaller_catalog_is_missing_from_the_larger(engine: Path) -> str:
    shutil.copytree(engine / "catalog", engine / "build" / "reduced" / "catalog")
    name = str(first(engine)["name"])
    change(pack(engine), lambda d: d["kernelDescriptors"].pop(0))
    return name


def a_lower_case_dtype(engine: Path) -> str:
    return change_kernel(engine, lambda k: k["metadata"].update(dtype="float"))


def a_name_that_leaves_a_field_out(engine: Path) -> str:
    name = str(first(engine)["name"])
    return change_kernel(engine, lambda k: k.update(name=name), 1)


def a_kernel_that_cannot_be_built(engine: Path) -> str:
    return change_kernel(
        engine, lambda k: [part.update(block_n=20) for part in (k["metadata"], k["kernel_source"]["spec"])]
    )


def a_pinned_field_without_a_matcher(engine: Path) -> str:
    manifest = engine / "engine.yaml"
    text = manifest.read_text()
    assert "  b_layout: equal\n" in text
    manifest.write_text(text.replace("  b_layout: equal\n", "  b_layout: any\n"))
    return str(first(engine)["name"])


def a_kernel_that_nothing_reaches(engine: Path) -> str:
    return change_kernel(engine, lambda k: k["metadata"].update(n_multiple=4099))


def a_random_id(engine: Path) -> str:
    return change_kernel(engine, lambda k: k.update(id=str(uuid.UUID(int=7, version=4))))


TRAPS: list[tuple[int, str, Callable[[Path], str]]] = [
    (1, "tuples", one_duplicate_tuple_drops_the_engine),
    (2, "contract", metadata_that_is_not_what_was_compiled),
    (3, "nesting", a_shape_of_the_smaller_catalog_is_missing_from_the_larger),
    (4, "contract", a_lower_case_dtype),
    (4, "reachability", a_lower_case_dtype),
    (5, "structure", a_name_that_leaves_a_field_out),
    (8, "contract", a_kernel_that_cannot_be_built),
    (14, "contract", a_pinned_field_without_a_matcher),
    (15, "reachability", a_kernel_that_nothing_reaches),
    (18, "regeneration", a_random_id),
]


@pytest.mark.parametrize(("gate", "plant"), [(g, p) for _, g, p in TRAPS], ids=[f"{n}-{g}" for n, g, _ in TRAPS])
def test_a_planted_defect_is_named_by_its_gate(small_engine: Path, winnow, gate: str, plant: Callable[[Path], str]):
    manifest = small_engine / "engine.yaml"
    shutil.copytree(small_engine / "catalog", small_engine / "build" / "reduced" / "catalog")
    assert winnow("check", "-m", manifest, gate)[0] == 0
    shutil.rmtree(small_engine / "build" / "reduced")
    name = plant(small_engine)
    code, out, _ = winnow("check", "-m", manifest, gate)
    assert code == 1
    assert f"    {name}: " in out
