"""A kernel library in rocKE's manner: specs, a predicate `is_valid_spec`, and builders that give a named kernel."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

from pack_triton_kernels import ProductSpec


def is_valid_spec(spec: ProductSpec) -> tuple[bool, str]:
    return spec.tile != 7, "seven is odd"


def build_product(spec: ProductSpec, *, arch: str) -> Any:
    return SimpleNamespace(name=f"product_{spec.tile}", tile=spec.tile, arch=arch)


def build_nameless(spec: ProductSpec, *, arch: str) -> Any:
    return {"tile": spec.tile}


def build_restless(spec: ProductSpec, *, arch: str) -> Any:
    """Names its kernel after its process: the worker would compile another one than was judged."""
    return SimpleNamespace(name=f"process_{os.getpid()}", tile=spec.tile, arch=arch)
