"""rocKE's kernels to AMD objects, by rocKE itself: its builder, its Python lowering, ROCm's comgr."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from winnow.compilers.amd_object import read_amd_object
from winnow.compilers.code_object import CodeObject
from winnow.compilers.compiler import CompileFailed, Compiler, Recipe
from winnow.compilers.isolation import Meddling, isolated
from winnow.errors import InputError
from winnow.identity import sha256_hex
from winnow.machine import child_environment
from winnow.targets.arches import ARCHES

_MEDDLING = Meddling(prefixes=("ROCKE_", "LLVM_", "AMD_COMGR_"), harmless=("ROCKE_COMGR_LIB",))
_BACKEND = "python"
_JUDGED = "every check before compiling has passed here"
_COMGR = "install ROCm's comgr, or name its library in ROCKE_COMGR_LIB"

_ASKED_SECONDS = 120.0

# comgr is native code: it is asked in a process of its own, which writes its answer to a file, for comgr may print.
_PROBE = """
import json, sys
from rocke.runtime.comgr import loaded_compiler_info
info = loaded_compiler_info()
answer = None if info is None else [info.llvm_version, info.comgr_path or info.requested_comgr]
with open(sys.argv[1], "w") as file:
    json.dump(answer, file)
"""


@dataclass(frozen=True)
class RockeSource:
    """A kernel that a rocKE builder makes: the builder runs again in the worker that compiles it.

    `symbol` is the name that the kernel had when it was built here; `package` is the digest of the builder's whole
    top-level package, any file of which may change what it builds.
    """

    symbol: str
    module: str
    builder: str
    spec: Any
    package: str


@dataclass(frozen=True)
class RockeToolchain:
    """An installed rocKE with the comgr that it loads: `package` and `comgr` are digests of their bytes."""

    kind: str
    version: str
    package: str
    comgr: str


def find_rocke() -> RockeToolchain:
    """Raises InputError: rocKE is not installed, or finds no comgr that says which LLVM it is."""
    try:
        import rocke
    except Exception as error:
        # Whatever its modules raise: it is somebody's package.
        raise InputError(
            f"kernels of kind rocke are compiled by rocKE, which cannot be imported: {error}",
            cure=f"{_JUDGED}; install ROCm's Python package rocke, or pack them with hkp_pack",
        ) from error
    answer = _ask_comgr()
    if answer is None or answer[0] is None:
        raise InputError("rocKE finds no comgr that states its LLVM, so it cannot compile", cure=f"{_JUDGED}; {_COMGR}")
    llvm, library = answer
    try:
        digest = sha256_hex(Path(library).read_bytes())
    except OSError as error:
        raise InputError(f"rocKE's comgr {library} cannot be read: {error.strerror}", cure=_COMGR) from error
    stated = f"{_version()}, LLVM {'.'.join(map(str, llvm))}"
    return RockeToolchain("rocke", stated, _package_digest(rocke.__name__), digest)


def _ask_comgr() -> Any:
    """The version of LLVM and the library of the comgr that rocKE loads; None where it finds none."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-P", "-c", _PROBE, str(answer)]
        try:
            asked = subprocess.run(
                command, env=child_environment(), capture_output=True, text=True, timeout=_ASKED_SECONDS
            )
        except subprocess.TimeoutExpired:
            problem = f"no answer in {_ASKED_SECONDS:g} s"
        else:
            if asked.returncode == 0 and answer.is_file():
                return json.loads(answer.read_text())
            problem = (asked.stderr.strip().splitlines() or [f"exit code {asked.returncode}"])[-1]
    raise InputError(f"rocKE cannot be asked for its comgr: {problem}", cure=f"{_JUDGED}; {_COMGR}")


def _version() -> str:
    try:
        return version("rocke")
    except PackageNotFoundError:
        return "unversioned"


def adopt(built: Any, recipe: Recipe) -> RockeSource:
    """What a builder gave as a source that can be addressed and sent to a worker.

    Raises:
        InputError: the builder gave something without a kernel's name.
    """
    symbol = getattr(built, "name", None)
    if not isinstance(symbol, str):
        raise InputError(f"the builder gave a {type(built).__name__}, not a kernel of rocKE with a name")
    top = recipe.module.partition(".")[0]
    return RockeSource(symbol, recipe.module, recipe.builder, recipe.spec, _package_digest(top))


@lru_cache
def _package_digest(name: str) -> str:
    """Digest of every file of a package, data such as rocKE's facts of architectures included; or of a module's one."""
    module = importlib.import_module(name)
    roots = [Path(entry) for entry in getattr(module, "__path__", ())]
    found = [(path.relative_to(root).as_posix(), path) for root in roots for path in root.rglob("*") if path.is_file()]
    if not roots and module.__file__ is not None:
        found = [(Path(module.__file__).name, Path(module.__file__))]
    kept = sorted((file, sha256_hex(path.read_bytes())) for file, path in found if path.suffix != ".pyc")
    return sha256_hex(repr(kept))


def _compile(source: RockeSource, target: str, toolchain: RockeToolchain) -> CodeObject:
    from rocke.core import backend
    from rocke.helpers import compile_kernel

    builder = getattr(importlib.import_module(source.module), source.builder)
    with isolated(_MEDDLING):
        backend.reset_cpp_fallbacks()
        try:
            artifact = compile_kernel(
                builder(source.spec, arch=target), arch=target, capture_ir_text=False, backend=_BACKEND
            )
        except Exception as error:
            lines = str(error).splitlines() or [""]
            raise CompileFailed(f"rocKE: {type(error).__name__}: {lines[0]}", "\n".join(lines[1:])) from error
        fallbacks = list(backend.cpp_fallbacks())
    if fallbacks:
        said = "; ".join(f"{kernel}: {reason}" for kernel, reason in fallbacks)
        raise CompileFailed(f"rocKE was asked for its {_BACKEND} lowering and fell back to another one ({said})")
    if artifact.kernel_name != source.symbol:
        raise CompileFailed(
            f"the builder named its kernel {source.symbol}, and {artifact.kernel_name} when asked again"
        )
    return read_amd_object(bytes(artifact.hsaco), source.symbol)


COMPILER = Compiler(
    language="rocke",
    source_type=RockeSource,
    targets=tuple(name for name, facts in ARCHES.items() if facts.runtime == "amdgpu"),
    find_toolchain=find_rocke,
    compile=_compile,
    read_back=read_amd_object,
    adopt=adopt,
)
