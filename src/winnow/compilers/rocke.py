"""Kernel sources of kind `rocke`: judged like all others before compiling, which takes rocKE itself."""

from __future__ import annotations

from typing import Any, NoReturn

from winnow.compilers.amd_object import read_amd_object
from winnow.compilers.code_object import CodeObject
from winnow.compilers.compiler import Compiler
from winnow.errors import InputError
from winnow.targets.arches import ARCHES


def find_rocke() -> NoReturn:
    """Raises InputError: rocKE's own packer compiles these kernels, Winnow judges them."""
    raise InputError(
        "kernels of kind rocke are compiled by rocKE itself, which Winnow does not drive",
        cure="every check before compiling has passed here; pack them with ROCm's hkp_pack",
    )


def _compile(source: Any, target: str, toolchain: Any) -> CodeObject:
    return find_rocke()


COMPILER = Compiler(
    language="rocke",
    source_type=object,
    targets=tuple(name for name, facts in ARCHES.items() if facts.runtime == "amdgpu"),
    find_toolchain=find_rocke,
    compile=_compile,
    read_back=read_amd_object,
)
