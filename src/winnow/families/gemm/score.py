"""How fast a GEMM kernel should be on a problem, from its metadata alone: what ranks kernels before measurement."""

from __future__ import annotations

from collections.abc import Mapping

from winnow.families.adapter import Field
from winnow.families.cpu import INT32_MAX
from winnow.families.prediction import (
    BYTES_PER_CYCLE,
    GIGAHERTZ,
    blocks,
    count,
    flag,
    multiply_cycles,
    overlapped,
    rounded,
    tile_loads,
)

# Lines of B that are this many floats apart cost a page each, and share a few places of the first cache.
_FAR_APART = 1024


def predicted_gflops(metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
    """Operations per nanosecond; a size or knob that is not said counts as 1."""
    m, n, k = (count(fields, name) for name in ("m", "n", "k"))
    skinny = count(metadata, "max_m", INT32_MAX) < INT32_MAX
    cycles = (_skinny_cycles if skinny else _blocked_cycles)(metadata, fields, m, n, k)
    return 2 * m * n * k / cycles * GIGAHERTZ


def _blocked_cycles(metadata: Mapping[str, Field], fields: Mapping[str, Field], m: int, n: int, k: int) -> float:
    reg_m, reg_v, vec = (count(metadata, name) for name in ("reg_m", "reg_v", "vec"))
    block_n, block_k = count(metadata, "block_n"), count(metadata, "block_k")
    products = rounded(m, reg_m) * rounded(n, reg_v * vec) * k
    compute = multiply_cycles(products, vec, reg_m * reg_v, tile_loads(reg_m, reg_v))
    compute += 2 * m * n / vec * blocks(k, block_k)  # every sum goes to memory and back once for each block of k
    if flag(metadata, "pack_a"):
        compute += m * k * blocks(n, block_n)
    if flag(metadata, "pack_b"):
        compute += n * k * (0.5 if fields.get("b_layout") == "col" else 2 / vec)
    else:
        compute *= 1 + 0.6 * min(1.0, count(fields, "stride_bk", n) / _FAR_APART)
    traffic = 4 * n * k + m * k * blocks(n, block_n)  # later reads of A come from a nearer cache
    return overlapped(compute, traffic / BYTES_PER_CYCLE)


def _skinny_cycles(metadata: Mapping[str, Field], fields: Mapping[str, Field], m: int, n: int, k: int) -> float:
    streams, unroll, vec = (count(metadata, name) for name in ("streams", "unroll", "vec"))
    rows = count(metadata, "rows", count(metadata, "max_m"))
    if fields.get("b_layout") == "col":
        independent, loads = rows * streams * unroll, (1 + rows) / rows
    else:
        # Every element of C is read and written once for each group of streams, one of A serves a step.
        independent, loads = rows * unroll, 1 / rows + 1 / unroll + 2 / streams
    compute = multiply_cycles(rows * n * k, vec, independent, loads)
    return overlapped(compute, 4 * n * k / BYTES_PER_CYCLE) * blocks(m, rows)
