"""How fast an attention kernel should be on a problem, from its metadata alone: what ranks it before measurement."""

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

_POLYNOMIAL_CYCLES = 8.0
"""Cycles of one vector of weights by the polynomial, with what is done around it."""
_LIBRARY_CYCLES = 8.0
"""Cycles of one weight by the C library."""


def predicted_gflops(metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
    """Operations per nanosecond; a size or knob that is not said counts as 1."""
    decode = count(metadata, "max_seqlen_q", INT32_MAX) < INT32_MAX
    seqlen_q, seqlen_kv, size = (count(fields, name) for name in ("seqlen_q", "seqlen_kv", "head_size"))
    query_heads, key_heads = count(fields, "num_query_heads"), count(fields, "num_kv_heads")
    keys = max(1, seqlen_kv - seqlen_q // 2) if flag(fields, "causal") else seqlen_kv
    if decode:
        rows = blocks(query_heads, key_heads) * seqlen_q
        cycles = key_heads * _decode_cycles(metadata, rows, keys, size)
    else:
        cycles = query_heads * _prefill_cycles(metadata, seqlen_q, keys, size)
    return 4 * query_heads * seqlen_q * keys * size / cycles * GIGAHERTZ


def _weight_cycles(metadata: Mapping[str, Field], vec: int) -> float:
    return (_POLYNOMIAL_CYCLES if metadata.get("exp") == "poly" else _LIBRARY_CYCLES * vec) / vec


def _prefill_cycles(metadata: Mapping[str, Field], queries: int, keys: int, size: int) -> float:
    reg_m, reg_v, vec = (count(metadata, name) for name in ("reg_m", "reg_v", "vec"))
    block_m, block_n = count(metadata, "block_m"), count(metadata, "block_n")
    lanes = queries // block_m * block_m + rounded(queries % block_m, reg_v * vec)
    products = lanes * (rounded(keys, reg_m) + keys) * size
    compute = multiply_cycles(products, vec, reg_m * reg_v, tile_loads(reg_m, reg_v))
    compute += lanes * keys * _weight_cycles(metadata, vec)
    compute += 2 * lanes * size * (1 + blocks(keys, block_n) / vec)  # transposing, and rescaling for every block
    return overlapped(compute, 8 * keys * size * blocks(queries, block_m) / (4 * BYTES_PER_CYCLE))


def _decode_cycles(metadata: Mapping[str, Field], rows: int, keys: int, size: int) -> float:
    reg_m, reg_v, vec = (count(metadata, name) for name in ("reg_m", "reg_v", "vec"))
    group_rows, block_n = count(metadata, "group_rows"), count(metadata, "block_n")
    passes = blocks(rows, group_rows)
    computed = passes * group_rows
    compute = multiply_cycles(computed * keys * size, vec, reg_m * vec, 1 / reg_m + 1 / vec)
    compute += multiply_cycles(computed * keys * size, vec, group_rows * reg_v, tile_loads(group_rows, reg_v))
    compute += computed * keys * (1.5 + _weight_cycles(metadata, vec))  # sums over lanes, weights
    compute += computed * blocks(keys, block_n) * (20 + 2 * size / vec)
    return overlapped(compute, 8 * keys * size * passes / BYTES_PER_CYCLE)
