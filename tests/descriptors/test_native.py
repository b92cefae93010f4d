"""Generated hooks must compile as they are, register every symbol that descriptors name, and the census must fail."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from engine_files import foreign_engine

from winnow.descriptors.generate import generate
from winnow.descriptors.native import native_files
from winnow.descriptors.tree import Catalog
from winnow.selection.document import parse_selection
from winnow.selection.expand import expand
from winnow.settings.manifest import load_manifest

DATA = Path(__file__).parent.parent / "data"
CXX = next((path for name in ("c++", "g++", "clang++") if (path := shutil.which(name))), None)
SELECTION = (DATA / "hipdnn" / "gfx950_attention_dense.yaml").read_text()


def dense(tmp_path: Path) -> tuple[Catalog, dict[str, str]]:
    selection = parse_selection(SELECTION, "dense.yaml")
    catalog = generate(selection.selection.header(), expand(selection))
    files = native_files(selection.selection.header(), catalog)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return catalog, files


def test_the_files_are_those_that_the_provider_expects(tmp_path: Path):
    _, files = dense(tmp_path)
    assert sorted(files) == [
        "fragments/gfx950_attention_dense.cmake",
        "fragments/gfx950_attention_dense_registration.inc",
        "packs/Gfx950AttentionDenseNative.cpp",
        "tests/TestGfx950AttentionDenseMatchers.cpp",
        "tests/TestGfx950AttentionDensePacks.cpp",
    ]
    assert "EXPECTED_CASES 2\n    ARCHES gfx950\n" in files["fragments/gfx950_attention_dense.cmake"]
    assert "WAVE_SIZE = 64" in files["tests/TestGfx950AttentionDenseMatchers.cpp"]


@pytest.mark.skipif(CXX is None, reason="no C++ compiler on this machine")
def test_hooks_and_tests_compile_and_the_census_notices_a_missing_kernel(tmp_path: Path):
    catalog, files = dense(tmp_path)
    sources = [str(tmp_path / name) for name in files if name.endswith(".cpp")]
    program = tmp_path / "census"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O0", f"-I{DATA / 'native'}"]
    built = subprocess.run(
        [str(CXX), *flags, *sources, str(DATA / "native" / "main.cpp"), "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    names = [kernel.name for _, kernel in catalog.kernels()]
    installed = tmp_path / "hipkernel:gfx950_attention_dense"
    environment = {**os.environ, "CENSUS_DIR": str(tmp_path), "CENSUS_ARCH": "gfx950"}

    def census(arch: str = "gfx950") -> int:
        return subprocess.run([program], env={**environment, "CENSUS_ARCH": arch}, check=False).returncode

    installed.write_text("\n".join(names) + "\n")
    assert census() == 0
    installed.write_text("\n".join(names[1:]) + "\n")
    assert census() == 1
    assert census("gfx942") == 1, "an arch for which nothing was generated is no pass"


def test_a_manifest_decides_what_is_compared(tmp_path: Path):
    path = foreign_engine(tmp_path)
    manifest = load_manifest(path).manifest
    kernel = "{name: k, kernel_source: {kind: c, source: m, builder: b, spec: {width: 64}}, "
    kernel += "metadata: {dtype: FLOAT, width: 64, tile: 16, lanes: 4}}"
    header = path.read_text().partition("enumerate:")[0].replace("family: copy\n", "")
    selection = parse_selection(f"{header}packs: [{{name: p, arch: [gfx942], kernels: [{kernel}]}}]\n", "s.yaml")
    files = native_files(manifest, generate(manifest, expand(selection)))
    hooks = files["packs/RowCopyNative.cpp"]
    assert "if (!(graph_dtype(graph) == kernel_dtype_equal)) {" in hooks
    assert "std::int64_t graph_width(const Graph& graph)" in hooks
    assert "graph_tile" not in hooks, "a knob is no request"
