"""The types of a Triton kernel's arguments, and the two pointers that Triton adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from winnow.compilers.code_object import ArgumentKind
from winnow.dtypes import OF_TRITON


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
    **{f"*{element}": _POINTER for element in OF_TRITON},
    **{name: TritonType("by_value", row.bytes, row.argument) for name, row in OF_TRITON.items() if row.argument},
}
"""Every type that a run-time argument may have, in Triton's spelling."""

NULL_POINTERS = ("global_scratch", "profile_scratch")
"""Arguments that Triton adds after the kernel's own. A launcher passes null: kernels that need them are refused."""
