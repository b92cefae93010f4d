"""Specs of the RDNA attention kernels: everything that shapes the machine code, as plain fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from winnow.families.algorithm import TunedSpec
from winnow.families.attention_rdna.cells import Cell


@dataclass(frozen=True)
class RdnaAttentionSpec(TunedSpec):
    """Tiles of block_m queries meet block_n keys at a time; `width` to `bias` are those of the kernel's cell.

    `transposed` kernels hold scores as keys by queries. `waves_per_eu` 0 leaves the registers to the compiler.
    """

    ALGORITHM: ClassVar[str] = "attention_rdna"
    ABI: ClassVar[str] = "winnow-attention-rdna/1"
    PLATFORM: ClassVar[str] = "rdna"
    CELL: ClassVar[tuple[str, ...]] = ("dtype", "width", "width_step", "mask", "bias")
    TOKENS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "dtype": "",
            "width": "w",
            "width_step": "s",
            "mask": "",
            "bias": "b",
            "block_m": "bm",
            "block_n": "bn",
            "transposed": "t",
            "num_warps": "nw",
            "num_stages": "ns",
            "waves_per_eu": "wpe",
        }
    )

    SETTINGS: ClassVar[frozenset[str]] = frozenset({"waves_per_eu"})

    dtype: str
    width: int
    width_step: int
    mask: str
    bias: str
    block_m: int
    block_n: int
    transposed: int
    num_warps: int
    num_stages: int
    waves_per_eu: int

    @property
    def cell(self) -> Cell:
        """What the kernel serves."""
        return Cell(self.width, self.width_step, self.mask, self.bias)
