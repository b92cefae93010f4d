"""The types of a Triton kernel's arguments, and the two pointers that Triton adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from winnow.compilers.code_object import ArgumentKind


@dataclass(frozen=True)
class TritonType:
    """What an argument of a type is in the argument block: `written` is the type of a value, empty for a pointer."""

    kind: ArgumentKind
    size: int
    written: str = ""

    @property
    def as_argument(self) -> tuple[ArgumentKind, int, str]:
        """(kind, bytes, written)"""
        return self.kind, self.size, self.written


_POINTER = TritonType("global_buffer", 8)

ARGUMENT_TYPES: Mapping[str, TritonType] = {
    **{f"*{element}": _POINTER for element in ("fp16", "bf16", "fp32", "i8", "i32", "i64")},
    "i32": TritonType("by_value", 4, "i32"),
    "i64": TritonType("by_value", 8, "i64"),
    "fp32": TritonType("by_value", 4, "f32"),
}
"""Every type that a run-time argument may have, in Triton's spelling."""

NULL_POINTERS = ("global_scratch", "profile_scratch")
"""Arguments that Triton adds after the kernel's own. A launcher passes null: kernels that need them are refused."""
