"""Specs of the GEMM kernels: everything that shapes the machine code, as plain fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from winnow.families.algorithm import TunedSpec
from winnow.families.cpu import INT32_MAX

ABI = "winnow-gemm/1"


@dataclass(frozen=True)
class BlockedSpec(TunedSpec):
    """Cache tiles of block_m × block_n × block_k, register tiles of reg_m rows by reg_v vectors of vec floats."""

    ALGORITHM: ClassVar[str] = "gemm_blocked"
    ABI: ClassVar[str] = ABI
    CELL: ClassVar[tuple[str, ...]] = ("dtype", "b_layout")
    TOKENS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "dtype": "",
            "b_layout": "b",
            "edge": "e",
            "block_m": "bm",
            "block_n": "bn",
            "block_k": "bk",
            "reg_m": "rm",
            "reg_v": "rv",
            "vec": "v",
            "unroll_k": "uk",
            "pack_a": "pa",
            "pack_b": "pb",
        }
    )

    dtype: str
    b_layout: str
    edge: int
    block_m: int
    block_n: int
    block_k: int
    reg_m: int
    reg_v: int
    vec: int
    unroll_k: int
    pack_a: int
    pack_b: int

    def n_multiple(self) -> int:
        """n must be a multiple of this: 1 with code for the edge, else the width of a register tile."""
        return 1 if self.edge else self.reg_v * self.vec

    def max_m(self) -> int:
        """The most rows that the kernel takes: no limit."""
        return INT32_MAX


@dataclass(frozen=True)
class SkinnySpec(TunedSpec):
    """At most `rows` rows of A; `streams` rows or columns of B at a time, `unroll` vectors of each a step.

    `block` is in columns of C for a row layout and in elements of k for a column layout; `prefetch` in cache lines.
    """

    ALGORITHM: ClassVar[str] = "gemm_skinny"
    ABI: ClassVar[str] = ABI
    CELL: ClassVar[tuple[str, ...]] = ("dtype", "b_layout")
    TOKENS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "dtype": "",
            "b_layout": "b",
            "rows": "r",
            "streams": "s",
            "block": "bl",
            "vec": "v",
            "unroll": "u",
            "prefetch": "p",
        }
    )

    dtype: str
    b_layout: str
    rows: int
    streams: int
    block: int
    vec: int
    unroll: int
    prefetch: int

    def n_multiple(self) -> int:
        """n must be a multiple of this: any n will do."""
        return 1

    def max_m(self) -> int:
        """The most rows that the kernel takes."""
        return self.rows
