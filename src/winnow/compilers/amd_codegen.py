"""From Triton's LLVM text to an AMD code object that says of itself what a launcher must know."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triton._C.libtriton import amd
from triton.backends.amd import compiler as backend

from winnow.compilers.amd_object import MATRIX_KEY
from winnow.compilers.compiler import CompileFailed
from winnow.compilers.source import TritonSource
from winnow.compilers.triton_types import ARGUMENT_TYPES, NULL_POINTERS
from winnow.targets.arches import arch_facts

_OBJECT_VERSION = re.compile(r'(!"amdhsa_code_object_version", i32) \d+')
_TRIPLE = re.compile(r'target triple = "[^"]*"')
_MATRIX_INSTRUCTION = re.compile(r"^\s+v_s?(?:mfma|mfmac|wmma|wmmac)_", re.MULTILINE)


def base_of(target: str) -> str:
    """The processor that Triton's own stages compile for."""
    return arch_facts(target).base or target


def finish(
    source: TritonSource, target: str, llir: str, metadata: Mapping[str, Any], options: Any, stages: Mapping[str, Any]
) -> bytes:
    """The object for `target` from LLVM text that was made for its base.

    Raises:
        CompileFailed: the code for a generic target has not the matrix instructions that its base's has, or the
            assembly is not of the form that the object's own description is written into.
    """
    base = base_of(target)
    assembly = _assembly(llir, base, base, options)
    if target != base:
        wanted = _matrix_instructions(assembly)
        assembly = _assembly(_as_generic(llir, target), target, base, options)
        found = _matrix_instructions(assembly)
        if found != wanted:
            raise CompileFailed(f"{found} matrix instructions for {target}, but {wanted} for its member {base}")
    return _linked(_described(assembly, source, int(metadata["shared"])), target)


def _as_generic(llir: str, target: str) -> str:
    # Anything below version 6 of the object's form makes LLVM abort for a generic target.
    text, versions = _OBJECT_VERSION.subn(r"\1 600", llir)
    text, triples = _TRIPLE.subn(f'target triple = "{amd.get_target_triple(target)}"', text)
    if (versions, triples) != (1, 1):
        raise CompileFailed(f"the LLVM text states {versions} object versions and {triples} targets, not one of each")
    return text


def _assembly(llir: str, processor: str, base: str, options: Any) -> str:
    text: str = backend.compile_amdgpu(
        llir,
        amd.get_target_triple(processor),
        processor,
        "",
        flags=backend.get_llvm_flags(base),
        enable_fp_fusion=options.enable_fp_fusion,
        disable_optimization=False,
        canonicalize_gep=False,
        disabled_passes="",
        dump_ir=False,
        enable_timing=False,
    )
    return text


def _matrix_instructions(assembly: str) -> int:
    return len(_MATRIX_INSTRUCTION.findall(assembly))


def _described(assembly: str, source: TritonSource, lds_bytes: int) -> str:
    """The assembly with its note completed: argument names and types, local memory, matrix instructions.

    Triton leaves local memory to whoever launches, who cannot know it from the object; stated as static, it is there.
    """
    count = _matrix_instructions(assembly)
    text, kernel = re.subn(r"(\.amdhsa_group_segment_fixed_size) 0\n", rf"\1 {lds_bytes}\n", assembly)
    text, note = re.subn(r"(\.group_segment_fixed_size:) 0\n", rf"\1 {lds_bytes}\n", text)
    text, document = re.subn(r"(\t\.amdgpu_metadata\n---\n)", rf"\g<1>{MATRIX_KEY}: {count}\n", text)
    if (kernel, note, document) != (1, 1, 1):
        raise CompileFailed("the assembly does not describe exactly one kernel without local memory of its own")
    typed = [(name, ARGUMENT_TYPES[spelled].written) for name, spelled in source.signature]
    return _with_arguments(text, [*typed, *((name, "") for name in NULL_POINTERS)])


def _with_arguments(assembly: str, arguments: Sequence[tuple[str, str]]) -> str:
    lines: list[str] = []
    following = iter(arguments)
    inside = False
    for line in assembly.split("\n"):
        lines.append(line)
        if line.strip() in (".args:", "- .args:"):
            inside = True
        elif inside and line.startswith("      - "):
            name, written = next(following, ("", ""))
            if name:
                lines.append(f"        .name:           {name}")
            if written:
                lines.append(f"        .type_name:      {written}")
        elif not line.startswith("        "):
            inside = False
    return "\n".join(lines)


def _linked(assembly: str, target: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="winnow-amd-") as directory:
        relocatable, linked = Path(directory, "kernel.o"), Path(directory, "kernel.hsaco")
        relocatable.write_bytes(backend.assemble_amdgcn(assembly, target, ""))
        amd.link_hsaco(str(relocatable), str(linked))
        return linked.read_bytes()
