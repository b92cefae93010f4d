"""From Triton's LLVM text to an NVIDIA code object that carries a note of what a launcher must know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgpack

from winnow.compilers.compiler import CompileFailed
from winnow.compilers.nvidia_object import NOTE_SYMBOL, SCHEMA
from winnow.compilers.source import TritonSource
from winnow.compilers.triton_types import ARGUMENT_TYPES, NULL_POINTERS


def base_of(target: str) -> str:
    """The processor that Triton's own stages compile for: there are no generic targets here."""
    return target


def finish(
    source: TritonSource, target: str, llir: str, metadata: Mapping[str, Any], options: Any, stages: Mapping[str, Any]
) -> bytes:
    """The object for `target`, with the note as a global variable: PTX has no sections of one's own.

    Raises:
        CompileFailed: ptxas refused the code.
    """
    state = dict(metadata)
    ptx = stages["ptx"](llir, state)
    count = sum(line.lstrip().startswith(("wgmma.mma_async", "mma.sync")) for line in ptx.splitlines())
    typed = [(name, ARGUMENT_TYPES[spelled].written) for name, spelled in source.signature]
    note = msgpack.packb(
        {
            "schema_version": SCHEMA,
            "symbol": source.symbol,
            "target": target,
            "arguments": [list(argument) for argument in (*typed, *((name, "") for name in NULL_POINTERS))],
            "dynamic_lds_bytes": int(state["shared"]),
            "threads_per_block": int(state["num_warps"]) * 32,
            "matrix_instructions": count,
        }
    )
    values = ",".join(str(byte) for byte in note)
    try:
        payload: bytes = stages["cubin"](
            f"{ptx}\n.visible .global .align 1 .b8 {NOTE_SYMBOL}[{len(note)}] = {{{values}}};\n", state
        )
    except Exception as error:
        raise CompileFailed(
            str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        ) from error
    return payload
