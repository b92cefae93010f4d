"""Kernels of kind `rocke`, over a stand-in of rocKE: the calls are those of ROCm's own packer, the objects are real."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pack_samples as samples
import pytest

from winnow.archive.verify import open_shard
from winnow.compilers.rocke import _package_digest
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError, Refused
from winnow.pack.cache import ObjectCache
from winnow.pack.shard import pack_arch

pytestmark = pytest.mark.slow

ALLOWED = frozenset({"pack_rocke_kernels"})

COMGR = """
import dataclasses, os


@dataclasses.dataclass
class CompilerInfo:
    llvm_version: tuple
    comgr_path: str
    requested_comgr: str


class ComgrError(RuntimeError):
    pass


def loaded_compiler_info():
    path = os.environ.get("ROCKE_COMGR_LIB")
    return CompilerInfo((20, 0, 1), path, path) if path else None
"""

BACKEND = """
ledger = []


def reset_cpp_fallbacks():
    ledger.clear()


def cpp_fallbacks():
    return list(ledger)
"""

HELPERS = """
import os
from dataclasses import dataclass

from triton_samples import product
from winnow.compilers.triton import compile_triton, find_triton

from ..core import backend as lowering
from ..runtime.comgr import ComgrError


@dataclass
class KernelArtifact:
    kernel: object
    hsaco: bytes

    @property
    def kernel_name(self):
        return self.kernel.name


def compile_kernel(kernel, *, arch=None, capture_ir_text=True, backend=None):
    assert backend == "python" and "ROCKE_BACKEND" not in os.environ
    if kernel.tile == 64:
        raise ComgrError("cannot select\\nthe whole log")
    if kernel.tile == 128:
        lowering.ledger.append((kernel.name, "no such opcode"))
    return KernelArtifact(kernel, compile_triton(product(kernel.name, kernel.tile), arch, find_triton()).payload)
"""


@pytest.fixture
def rocke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A rocKE of this test alone, and a comgr for it."""
    for name, text in {
        "__init__.py": "",
        "core/__init__.py": "",
        "core/backend.py": BACKEND,
        "helpers/__init__.py": HELPERS,
        "runtime/__init__.py": "",
        "runtime/comgr.py": COMGR,
    }.items():
        path = tmp_path / "installed" / "rocke" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    library = tmp_path / "libamd_comgr.so"
    library.write_bytes(b"comgr")
    monkeypatch.setenv("ROCKE_COMGR_LIB", str(library))
    monkeypatch.setenv("ROCKE_BACKEND", "cpp")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    yield library
    for name in [name for name in sys.modules if name.partition(".")[0] == "rocke"]:
        del sys.modules[name]


def kernels(*tiles: int, builder: str = "build_product") -> Catalog:
    source = {"kind": "rocke", "source": "pack_rocke_kernels.py", "builder": builder}
    return samples.catalog(
        *(samples.kernel(f"t{tile}", tile=tile, source=source, arch=["gfx950"]) for tile in tiles), arch=["gfx950"]
    )


def refused(tmp_path: Path, catalog: Catalog, kind: type[Exception] = InputError) -> str:
    with pytest.raises(kind) as error:
        pack_arch(catalog, "gfx950", tmp_path / "out", allowed=ALLOWED, jobs=1)
    assert not (tmp_path / "out" / "gfx950").exists()
    return str(error.value)


def test_kernels_are_compiled_by_rocke_and_kept_until_it_changes(rocke: Path, tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path / "cache")

    def pack(jobs: int) -> tuple[int, int]:
        report = pack_arch(kernels(16, 32), "gfx950", tmp_path / str(jobs), allowed=ALLOWED, jobs=jobs, cache=cache)
        return report.built, report.cached

    assert [pack(1), pack(2)] == [(2, 0), (0, 2)]
    files = [{p.name: p.read_bytes() for p in (tmp_path / j).rglob("*") if p.is_file()} for j in ("1", "2")]
    assert files[0] == files[1]
    shard = open_shard(tmp_path / "1", "gfx950")
    assert sorted(code.symbol for code in shard.objects.values()) == ["product_16", "product_32"]
    stated = {record["toolchain"]["version"] for record in shard.provenance.values()}
    assert stated == {"unversioned, LLVM 20.0.1"}
    rocke.write_bytes(b"another comgr")
    assert pack(1) == (2, 0)
    (tmp_path / "installed" / "rocke" / "core" / "arch_specs.json").write_text("{}")
    _package_digest.cache_clear()  # as in the next command's process
    assert pack(1) == (2, 0)


def test_a_spec_that_the_librarys_predicate_refuses_is_not_compiled(rocke: Path, tmp_path: Path) -> None:
    assert "does not support this spec on gfx950: seven is odd" in refused(tmp_path, kernels(7), Refused)


@pytest.mark.parametrize(
    ("tile", "builder", "said"),
    [
        (64, "build_product", "t64 cannot be compiled for gfx950: rocKE: ComgrError: cannot select\n    the whole log"),
        (128, "build_product", "rocKE was asked for its python lowering and fell back to another one (product_128: no"),
        (32, "build_nameless", "pack_rocke_kernels.build_nameless: the builder gave a dict, not a kernel of rocKE"),
        (32, "build_restless", " when asked again"),
    ],
)
def test_what_rocke_does_not_do_as_asked_fails_the_pack(
    rocke: Path, tmp_path: Path, tile: int, builder: str, said: str
) -> None:
    assert said in refused(tmp_path, kernels(tile, builder=builder))


def test_without_a_comgr_the_cure_names_it(rocke: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROCKE_COMGR_LIB")
    assert refused(tmp_path, kernels(32)) == (
        "rocKE finds no comgr that states its LLVM, so it cannot compile\n  cure: every check before compiling has "
        "passed here; install ROCm's comgr, or name its library in ROCKE_COMGR_LIB"
    )
    monkeypatch.setenv("ROCKE_COMGR_LIB", str(tmp_path / "gone.so"))
    assert refused(tmp_path, kernels(32)).startswith(f"rocKE's comgr {tmp_path}/gone.so cannot be read: No such file")


def test_a_rocke_of_another_shape_is_told(rocke: Path, tmp_path: Path) -> None:
    (tmp_path / "installed" / "rocke" / "runtime" / "comgr.py").write_text("")
    said = refused(tmp_path, kernels(32))
    assert said.startswith(
        "rocKE cannot be asked for its comgr: ImportError: cannot import name 'loaded_compiler_info'"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("print('loading'); " + "import atexit; atexit.register(print, 'done')", None),
        ("import os; os._exit(0)", "exit code 0"),
        ("import time; time.sleep(60)", "no answer in 2 s"),
    ],
)
def test_a_comgr_that_prints_ends_or_hangs(
    rocke: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str | None
) -> None:
    module = tmp_path / "installed" / "rocke" / "runtime" / "comgr.py"
    module.write_text(f"{text}\n{module.read_text()}")
    if said is None:
        assert pack_arch(kernels(16), "gfx950", tmp_path / "out", allowed=ALLOWED, jobs=1).built == 1
        return
    monkeypatch.setattr("winnow.compilers.rocke._ASKED_SECONDS", 2.0)
    assert f"rocKE cannot be asked for its comgr: {said}" in refused(tmp_path, kernels(32))


def test_a_rocke_that_raises_when_it_is_imported(rocke: Path, tmp_path: Path) -> None:
    (tmp_path / "installed" / "rocke" / "__init__.py").write_text("raise RuntimeError('no arch_specs.json')")
    assert "which cannot be imported: no arch_specs.json\n" in refused(tmp_path, kernels(32))


def test_without_rocke_everything_before_it_is_judged(tmp_path: Path) -> None:
    assert "seven is odd" in refused(tmp_path, kernels(7), Refused)
    assert refused(tmp_path, kernels(32)) == (
        "kernels of kind rocke are compiled by rocKE, which cannot be imported: No module named 'rocke'\n"
        "  cure: every check before compiling has passed here; install ROCm's Python package rocke, or pack them with "
        "hkp_pack"
    )
