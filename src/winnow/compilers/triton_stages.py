"""Triton's own stages, driven one by one in memory. Imported with a clean environment, and only to compile."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import Any

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler.code_generator import CompilationError
from triton.compiler.compiler import ASTSource, make_backend

from winnow.compilers import amd_codegen, nvidia_codegen
from winnow.compilers.compiler import CompileFailed
from winnow.compilers.source import TritonSource
from winnow.identity import sha256_hex
from winnow.targets.arches import arch_facts

_EXPLICIT = {"enable_fp_fusion": True, "debug": False}
"""What Triton would else take from its defaults, which change with its release, or from the environment."""

_EARLY_OPTIONS = frozenset({"num_stages", "matrix_instr_nonkdim", "kpack", "schedule_hint"})
"""Options that have done their work once the intermediate text is written; LLVM never sees them."""


@dataclass
class Lowered:
    """A kernel at Triton's GPU dialect: the module, and what the later stages need."""

    module: Any
    context: Any
    options: Any
    metadata: dict[str, Any]
    stages: dict[str, Any]


def compile_kernel(source: TritonSource, target: str) -> bytes:
    """The bytes of the object for `target`.

    Raises:
        CompileFailed: Triton refuses the kernel, or it needs memory that no launcher gives.
    """
    codegen = amd_codegen if arch_facts(target).runtime == "amdgpu" else nvidia_codegen
    lowered = _lower(source, codegen.base_of(target))
    llir = lowered.stages["llir"](lowered.module, lowered.metadata)
    for name in ("global_scratch_size", "profile_scratch_size"):
        if lowered.metadata.get(name):
            raise CompileFailed(f"it needs {lowered.metadata[name]} bytes of {name.removesuffix('_size')} memory")
    payload: bytes = codegen.finish(source, target, llir, lowered.metadata, lowered.options, lowered.stages)
    return payload


def intermediate(source: TritonSource, target: str) -> str:
    """Digest of all that the stages after Triton's GPU dialect are given."""
    codegen = amd_codegen if arch_facts(target).runtime == "amdgpu" else nvidia_codegen
    lowered = _lower(source, codegen.base_of(target))
    late = {name: value for name, value in vars(lowered.options).items() if name not in _EARLY_OPTIONS}
    return sha256_hex(repr((target, source.symbol, sorted(late.items()), source.signature, str(lowered.module))))


def _lower(source: TritonSource, base: str) -> Lowered:
    target = _gpu_target(base)
    backend = make_backend(target)
    options = _options(source, backend)
    metadata = {"target": target, **vars(options)}
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, Language.TRITON)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    front = ASTSource(
        _function(source),
        {**dict(source.signature), **{name: "constexpr" for name, _ in source.constexprs}},
        dict(source.constexprs),
        _attributes(source),
    )
    try:
        module = front.make_ir(
            target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
    except CompilationError as error:
        raise CompileFailed(*_said(error)) from None
    for stage in ("ttir", "ttgir"):
        module = stages[stage](module, metadata)
    return Lowered(module, context, options, metadata, stages)


def _gpu_target(base: str) -> GPUTarget:
    facts = arch_facts(base)
    if facts.runtime == "nvptx":
        return GPUTarget("cuda", int(base.removeprefix("sm_")), facts.wave_size)
    return GPUTarget("hip", base, facts.wave_size)


def _options(source: TritonSource, backend: Any) -> Any:
    stated = {**_EXPLICIT, **dict(source.options), "num_warps": source.num_warps, "num_stages": source.num_stages}
    options = backend.parse_options(dict(stated))
    for name, value in stated.items():
        if getattr(options, name, None) != value:
            raise CompileFailed(f"the back end does not take the option {name}={value!r}")
    return options


def _function(source: TritonSource) -> Any:
    # Triton reads a kernel's text back through its file: this puts it where Python looks before it opens a file.
    name = f"<winnow kernel {sha256_hex(source.text)[:16]}>"
    linecache.cache[name] = (len(source.text), None, source.text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "winnow_kernel"}
    exec(compile(source.text, name, "exec"), scope)
    function = scope.get(source.function)
    if not isinstance(function, triton.JITFunction):
        raise CompileFailed(f'the kernel\'s text defines no jitted function "{source.function}"')
    arguments = [*dict(source.signature), *dict(source.constexprs)]
    if sorted(arguments) != sorted(function.arg_names):
        raise CompileFailed(f"the kernel takes {', '.join(function.arg_names)}; given are {', '.join(arguments)}")
    function._repr = lambda _: source.symbol
    return function


def _attributes(source: TritonSource) -> dict[tuple[int], list[list[str | int]]]:
    names = [name for name, _ in source.signature]
    found: dict[tuple[int], list[list[str | int]]] = {}
    order = _positions(source)
    for argument, attribute, value in source.attributes:
        if argument not in names:
            raise CompileFailed(f'an attribute is about "{argument}", which is not an argument')
        found.setdefault((order[argument],), []).append([attribute, value])
    return found


def _positions(source: TritonSource) -> dict[str, int]:
    """Where each argument stands among those of the function, the compile-time ones included."""
    return {name: i for i, name in enumerate(_function(source).arg_names)}


def _said(error: Exception) -> tuple[str, str]:
    """The line that says what is wrong, and all of it: Triton shows the source first."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return (lines[-1].strip() if lines else type(error).__name__), str(error)
