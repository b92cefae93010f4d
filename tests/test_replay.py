"""What Winnow writes stays what it was, byte for byte: selections, catalogs and objects of every built-in engine.

Their digests stand in `data/replay.json`. A change that is meant to change bytes records them anew with
`pytest tests/test_replay.py --update-goldens`, and says in the changelog why.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from winnow.compilers.find import Language, find_compiler
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.engine_dir import EngineDir
from winnow.identity import sha256_hex
from winnow.steps.enumerate import enumerate_engine, write_enumeration
from winnow.steps.generate import draft_catalog, write_draft
from winnow.steps.init import init_engine
from winnow.steps.pack import pack_catalog

GOLDEN = Path(__file__).parent / "data" / "replay.json"
ARCHES = {
    "gemm_cpu": "x86-64-v3",
    "attention_cpu": "x86-64-v3",
    "attention_gfx11": "gfx11-generic",
    "attention_gfx12": "gfx12-generic",
    "attention_gfx950": "gfx950",
}
"""An arch for each built-in engine. Of each pack the first and the last kernel are compiled for it."""


@pytest.fixture(scope="module")
def golden(request: pytest.FixtureRequest) -> Any:
    """The recorded digests; what a test puts in is written back where they are to be updated."""
    recorded = json.loads(GOLDEN.read_text())
    if request.config.getoption("--update-goldens") and hasattr(request.config, "workerinput"):
        raise pytest.UsageError("each of several processes would write its own digests over the others': leave out -n")
    yield recorded
    if request.config.getoption("--update-goldens"):
        GOLDEN.write_text(json.dumps(recorded, indent=1) + "\n")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))


@pytest.mark.parametrize("name", ARCHES)
def test_a_built_in_engine_is_enumerated_and_generated_to_the_same_bytes(name: str, golden, update, tmp_path: Path):
    init_engine(tmp_path / name, name)
    engine = EngineDir(tmp_path / name / "engine.yaml")
    written = write_enumeration(engine, enumerate_engine(engine), output=tmp_path / "selection.yaml").selection
    assert written is not None
    if not engine.selection_file.is_file():
        engine.selection_file.write_bytes(written.read_bytes())
    write_draft(draft_catalog(engine))
    selection, catalog = sha256_hex(written.read_bytes()), digests(engine.catalog)
    if update:
        golden["selections"][name], golden["catalogs"][name] = selection, catalog
    assert selection == golden["selections"][name]
    assert catalog == golden["catalogs"][name]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arch"), ARCHES.items())
def test_a_built_in_engine_is_packed_to_the_same_bytes(name: str, arch: str, golden, update, tmp_path: Path):
    kind = "c" if arch.startswith("x86") else "triton"
    compiler = find_compiler(kind)
    stated = Language(compiler, compiler.find_toolchain()).stated
    if not update and stated != golden["toolchains"][kind]:
        pytest.skip(f"objects were recorded with {golden['toolchains'][kind]}, here is {stated}")
    init_engine(tmp_path / name, name)
    engine = EngineDir(tmp_path / name / "engine.yaml")
    if not engine.selection_file.is_file():
        write_enumeration(engine, enumerate_engine(engine))
    write_draft(draft_catalog(engine))
    pack_catalog(engine, first_and_last(read_catalog(engine.catalog)), [arch], tmp_path / "archive", jobs=2)
    packed = digests(tmp_path / "archive")
    if update:
        golden["toolchains"][kind], golden["archives"][name] = stated, packed
    assert packed == golden["archives"][name]


def first_and_last(catalog: Catalog) -> Catalog:
    """The catalog with two kernels a pack."""
    packs = [
        (file, kdp.model_copy(update={"kernels": list({k.id: k for k in (kdp.kernels[0], kdp.kernels[-1])}.values())}))
        for file, kdp in catalog.kdps
    ]
    return dataclasses.replace(catalog, kdps=tuple(packs))


def digests(root: Path) -> Mapping[str, str]:
    """SHA-256 of every file below a directory that is not hidden."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    named = ((path.relative_to(root), path) for path in files)
    return {
        inside.as_posix(): sha256_hex(path.read_bytes())
        for inside, path in named
        if not any(part.startswith(".") for part in inside.parts)
    }
