"""Specs of the attention kernels: everything that shapes the machine code, as plain fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from winnow.families.algorithm import TunedSpec
from winnow.families.cpu import INT32_MAX

ABI = "winnow-attention/1"


@dataclass(frozen=True)
class PrefillSpec(TunedSpec):
    """Tiles of block_m queries meet block_n keys at a time; register tiles are reg_m rows by reg_v vectors of queries.

    `exp` is how weights are computed: `poly` by a polynomial, `libm` by the C library.
    """

    ALGORITHM: ClassVar[str] = "attention_prefill"
    ABI: ClassVar[str] = ABI
    CELL: ClassVar[tuple[str, ...]] = ("dtype", "head_size", "causal")
    TOKENS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "dtype": "",
            "head_size": "d",
            "causal": "c",
            "block_m": "bm",
            "block_n": "bn",
            "reg_m": "rm",
            "reg_v": "rv",
            "vec": "v",
            "unroll": "u",
            "exp": "",
        }
    )

    dtype: str
    head_size: int
    causal: int
    block_m: int
    block_n: int
    reg_m: int
    reg_v: int
    vec: int
    unroll: int
    exp: str

    def max_seqlen_q(self) -> int:
        """The most queries that the kernel takes: no limit."""
        return INT32_MAX


@dataclass(frozen=True)
class DecodeSpec(TunedSpec):
    """At most max_q queries. group_rows rows (query heads of a key head times queries) share each of block_n keys.

    Scores are computed for reg_m rows at once, values added in reg_v vectors of a head; keys are fetched `prefetch`
    keys ahead.
    """

    ALGORITHM: ClassVar[str] = "attention_decode"
    ABI: ClassVar[str] = ABI
    CELL: ClassVar[tuple[str, ...]] = ("dtype", "head_size", "causal")
    TOKENS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "dtype": "",
            "head_size": "d",
            "causal": "c",
            "max_q": "mq",
            "group_rows": "gr",
            "block_n": "bn",
            "reg_m": "rm",
            "reg_v": "rv",
            "vec": "v",
            "unroll": "u",
            "prefetch": "p",
            "exp": "",
        }
    )

    dtype: str
    head_size: int
    causal: int
    max_q: int
    group_rows: int
    block_n: int
    reg_m: int
    reg_v: int
    vec: int
    unroll: int
    prefetch: int
    exp: str

    def max_seqlen_q(self) -> int:
        """The most queries that the kernel takes."""
        return self.max_q
