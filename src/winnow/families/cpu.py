"""What kernels in C for the CPU share: the targets, what their rules may count on, and the text of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from winnow.targets.arches import arch_facts

_KIB = 1024

# Bytes of second-level cache that one core of every common processor of the level has: Nehalem, Haswell, Ice Lake.
_L2_BYTES: Mapping[str, int] = MappingProxyType(
    {
        "x86-64-v2": 256 * _KIB,
        "x86-64-v3": 256 * _KIB,
        "x86-64-v4": 512 * _KIB,
        "x86-64-generic": 256 * _KIB,
    }
)

CPU_ARCHES: tuple[str, ...] = tuple(_L2_BYTES)
"""Every target that the families' kernels in C are written for."""

INT32_MAX = 2**31 - 1
"""The largest size that a kernel takes: sizes are 32-bit arguments. Says "no limit" in metadata."""

VECTOR_WIDTHS = (4, 8, 16)
"""Floats in a vector: one SSE, AVX2 or AVX-512 register."""


def target_facts(arch: str) -> dict[str, int]:
    """What rules may read of a CPU target: `vector_bytes`, `registers` (of vectors) and `l2_bytes`.

    Raises:
        InputError: an architecture that nobody knows.
        KeyError: one that is not a CPU target.
    """
    facts = arch_facts(arch)
    return {"vector_bytes": facts.vector_bytes or 0, "registers": facts.vgprs, "l2_bytes": _L2_BYTES[arch]}


def kernel_text(family: str, *names: str) -> str:
    """The C text of a kernel: the vectors that all share, then the named files of `families/<family>/kernels`."""
    here = files("winnow.families")
    paths = (here / "kernels" / "vector.h", *(here / family / "kernels" / name for name in names))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)
