"""What a compiler gives back: the object's bytes, and what was read out of those bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from winnow.identity import sha256_hex

ArgumentKind = Literal["global_buffer", "by_value"]


@dataclass(frozen=True)
class Argument:
    """One kernel argument as it lies in the argument block: `size` and `offset` in bytes."""

    kind: ArgumentKind
    size: int
    offset: int
    name: str
    type: str = ""
    """C spelling of a by-value argument (`i32`, `i64`, `f32`); empty for a pointer."""


@dataclass(frozen=True)
class CodeObject:
    """A compiled kernel for one target.

    `signature` and `resources` are read back from `payload`, never copied from the request that made it.
    """

    target: str
    symbol: str
    payload: bytes
    signature: tuple[Argument, ...]
    resources: Mapping[str, int] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """Digest of the payload, 64 hex digits."""
        return sha256_hex(self.payload)
