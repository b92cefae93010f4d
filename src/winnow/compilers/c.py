"""The C compiler: a kernel in C becomes a shared object that is the same, byte for byte, wherever it is built."""

from __future__ import annotations

from winnow.compilers.code_object import CodeObject
from winnow.compilers.compiler import CompileFailed, Compiler
from winnow.compilers.elf_note import SCHEMA, Note, NoteArgument, NoteToolchain, encode_note, read_back
from winnow.compilers.layout import argument_layout
from winnow.compilers.prelude import with_prelude
from winnow.compilers.source import CSource
from winnow.compilers.toolchain import (
    COMMON_FLAGS,
    Toolchain,
    ToolchainKind,
    find_toolchain,
    level_flags,
    run_compiler,
)
from winnow.errors import InputError
from winnow.identity import canonical_json, sha256_hex
from winnow.targets.cpu import cpu_targets, march, vector_bytes

__all__ = ["COMPILER", "CompileFailed", "Toolchain", "compile_c", "find_toolchain", "read_back"]


def compile_c(source: CSource, target: str, toolchain: Toolchain, *, timeout_s: float = 120.0) -> CodeObject:
    """The kernel as a shared object for a CPU target; everything but `payload` is read back from those bytes.

    Raises:
        InputError: an unknown target, or a source whose names or types are not sound.
        CompileFailed: the compiler refused the text, took longer than `timeout_s` seconds, or wrote an object
            that is not what was asked for.
    """
    flags = (*COMMON_FLAGS, *_target_flags(target, toolchain.kind), *source.flags)
    arguments = argument_layout(source.parameters)
    note = Note(
        schema_version=SCHEMA,
        symbol=source.symbol,
        target=target,
        arguments=[
            NoteArgument(kind=a.kind, size=a.size, offset=a.offset, name=a.name, type=a.type) for a in arguments
        ],
        toolchain=NoteToolchain(kind=toolchain.kind, version=toolchain.version),
        flags=sha256_hex(canonical_json(flags)),
    )
    text = with_prelude(source, arguments, encode_note(note))
    payload = run_compiler(toolchain, text, flags, timeout_s)
    try:
        compiled = read_back(payload, source.symbol)
    except InputError as error:
        raise CompileFailed(f"the object cannot be read back: {error.message}") from error
    if (compiled.target, compiled.signature) != (target, arguments):
        raise CompileFailed(f"the object is for {compiled.target} and not what was asked for")
    return compiled


def _target_flags(target: str, kind: ToolchainKind) -> tuple[str, ...]:
    # At 64-byte registers compilers prefer narrower ones unless told; the knobs choose, not they.
    return (*level_flags(march(target), kind), f"-mprefer-vector-width={8 * vector_bytes(target)}")


COMPILER = Compiler(
    language="c",
    source_type=CSource,
    targets=cpu_targets(),
    find_toolchain=find_toolchain,
    compile=compile_c,
    read_back=read_back,
)
