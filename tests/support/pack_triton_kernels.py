"""A family of one Triton kernel, for tests of the pack with the real compiler."""

from __future__ import annotations

from dataclasses import dataclass

from triton_samples import product

from winnow.compilers.source import TritonSource


@dataclass(frozen=True)
class ProductSpec:
    dtype: str
    tile: int
    fast: bool = False

    def tile_multiple(self) -> int:
        return self.tile * (2 if self.fast else 1)


def supports_product(spec: ProductSpec, *, arch: str) -> bool:
    return True


def build_product(spec: ProductSpec, *, arch: str) -> TritonSource:
    return product(f"product_{spec.tile}_{int(spec.fast)}", spec.tile, num_warps=8 if spec.fast else 4)


def supports_hasty(spec: ProductSpec, *, arch: str) -> bool:
    return spec.tiel > 0  # type: ignore[attr-defined]


def build_hasty(spec: ProductSpec, *, arch: str) -> TritonSource:
    return build_product(spec, arch=arch)
