"""Specs of the dense attention kernels: hipDNN's fields of a head configuration, and the knobs that Triton has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from winnow.families.algorithm import TunedSpec
from winnow.families.attention_dense.estimates import waves_of


@dataclass(frozen=True)
class AttentionDenseSpec(TunedSpec):
    """Tiles of block_m queries meet block_n keys at a time, num_warps waves to a tile, num_stages tiles in flight.

    batch, seqlen_q and seqlen_kv are arguments of the kernel: specs have canonical values there. `num_warps` 0 stands
    for a wave for 32 queries; `waves_per_eu` and `matrix_size` 0 leave the choice to the compiler.
    """

    ALGORITHM: ClassVar[str] = "attention_dense"
    ABI: ClassVar[str] = "winnow-attention-dense/1"
    PLATFORM: ClassVar[str] = "gpu"
    CELL: ClassVar[tuple[str, ...]] = (
        "dtype",
        "head_size",
        "num_query_heads",
        "num_kv_heads",
        "causal",
        "batch",
        "seqlen_q",
        "seqlen_kv",
        "sliding_window",
        "ragged",
    )
    TOKENS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "dtype": "",
            "head_size": "d",
            "num_query_heads": "hq",
            "num_kv_heads": "kv",
            "causal": "c",
            "batch": "b",
            "seqlen_q": "sq",
            "seqlen_kv": "sk",
            "sliding_window": "swa",
            "ragged": "ragged",
            "block_m": "bm",
            "block_n": "bn",
            "num_warps": "nw",
            "num_stages": "ns",
            "waves_per_eu": "wpe",
            "matrix_size": "mi",
            "kpack": "kp",
        }
    )
    SETTINGS: ClassVar[frozenset[str]] = frozenset({"waves_per_eu", "matrix_size", "kpack"})
    RUN_TIME: ClassVar[frozenset[str]] = frozenset({"batch", "seqlen_q", "seqlen_kv"})
    """Fields that are arguments of the kernel and shape nothing of it."""

    dtype: str
    head_size: int
    num_query_heads: int
    num_kv_heads: int
    causal: bool
    batch: int
    seqlen_q: int
    seqlen_kv: int
    sliding_window: int
    ragged: bool
    block_m: int
    block_n: int
    num_warps: int
    num_stages: int
    waves_per_eu: int
    matrix_size: int
    kpack: int

    @property
    def variant_id(self) -> str:
        """The algorithm and what is compiled in of the cell: lengths do not change what a configuration is."""
        return "_".join([self.ALGORITHM, *self._shaping(self.CELL)])

    @property
    def waves(self) -> int:
        """Waves of a workgroup."""
        return waves_of(self.block_m, self.num_warps)

    def kernel_name(self) -> str:
        """A C identifier that specs share only when they are compiled alike."""
        return "_".join([self.ALGORITHM, *self._shaping(self.TOKENS)])

    @property
    def symbol(self) -> str:
        """The name without settings of the back end."""
        return "_".join([self.ALGORITHM, *self._shaping(name for name in self.TOKENS if name not in self.SETTINGS)])

    def _shaping(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            value = getattr(self, name)
            if name not in self.RUN_TIME:
                yield f"{self.TOKENS[name]}{int(value) if isinstance(value, bool) else value}"
