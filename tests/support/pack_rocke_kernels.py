"""A kernel library in rocKE's manner: specs, a predicate `is_valid_spec`, and builders that give a named kernel."""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any


@dataclass(frozen=True)
class ProductSpec:
    dtype: str
    tile: int
    fast: bool = False

    def tile_multiple(self) -> int:
        return self.tile * (2 if self.fast else 1)


def is_valid_spec(spec: ProductSpec) -> tuple[bool, str]:
    return spec.tile != 7, "seven is odd"


def build_product(spec: ProductSpec, *, arch: str) -> Any:
    return SimpleNamespace(name=f"product_{spec.tile}", tile=spec.tile, arch=arch)


def build_nameless(spec: ProductSpec, *, arch: str) -> Any:
    return {"tile": spec.tile}


def build_restless(spec: ProductSpec, *, arch: str) -> Any:
    """Names its kernel after its process: the worker would compile another one than was judged."""
    return SimpleNamespace(name=f"process_{os.getpid()}", tile=spec.tile, arch=arch)
