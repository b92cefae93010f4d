"""What can be tuned in the attention kernels, and what must hold between the knobs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from winnow.families.algorithm import Algorithm, Knobs
from winnow.families.attention.spec import DecodeSpec, PrefillSpec
from winnow.families.cpu import VECTOR_WIDTHS, target_facts
from winnow.spaces import choices, rule

EXP = ("poly", "libm")
MAX_Q = (1, 4)
MOST_Q = max(MAX_Q)
"""The most queries that any decode kernel takes."""

PREFILL_AXES = (
    choices("block_m", (16, 32, 48, 64, 96, 128)),
    choices("block_n", (16, 32, 64, 96, 128, 256)),
    choices("reg_m", (1, 2, 4, 8, 16)),
    choices("reg_v", (1, 2, 3, 4)),
    choices("vec", VECTOR_WIDTHS),
    choices("unroll", (1, 2, 4)),
    choices("exp", EXP),
)

DECODE_AXES = (
    choices("max_q", MAX_Q),
    choices("group_rows", (1, 2, 4, 7, 8, 16)),
    choices("block_n", (16, 32, 64, 128, 256)),
    choices("reg_m", (1, 2, 4)),
    choices("reg_v", (1, 2, 4, 8)),
    choices("vec", VECTOR_WIDTHS),
    choices("unroll", (1, 2, 4)),
    choices("prefetch", (0, 4, 8, 16)),
    choices("exp", EXP),
)


@rule("a vector fits a register")
def vector_fits(vec: int, vector_bytes: int) -> bool:
    return 4 * vec <= vector_bytes


@rule("the register tile, a line of queries and an element of keys fit the registers")
def register_tile_fits(reg_m: int, reg_v: int, registers: int) -> bool:
    return reg_m * reg_v + reg_v + 1 <= registers


@rule("block_m is a whole number of register tiles")
def whole_queries(block_m: int, reg_v: int, vec: int) -> bool:
    return block_m % (reg_v * vec) == 0


@rule("block_n is a whole number of register tiles")
def whole_keys(block_n: int, reg_m: int) -> bool:
    return block_n % reg_m == 0


@rule("the tile's queries, sums and scores fit half of the second cache")
def tile_fits(block_m: int, block_n: int, head_size: int, l2_bytes: int) -> bool:
    return 4 * block_m * (2 * head_size + block_n) <= l2_bytes // 2


@rule("the scores of reg_m rows with one vector of keys fit the registers")
def scores_fit(reg_m: int, vec: int, registers: int) -> bool:
    return reg_m * vec + 2 <= registers


@rule("the sums of all rows fit the registers")
def sums_fit(group_rows: int, reg_v: int, registers: int) -> bool:
    return group_rows * reg_v + 2 <= registers


@rule("group_rows is a whole number of reg_m")
def whole_rows(group_rows: int, reg_m: int) -> bool:
    return group_rows % reg_m == 0


@rule("a head is a whole number of register tiles")
def whole_head(head_size: int, reg_v: int, vec: int) -> bool:
    return head_size % (reg_v * vec) == 0


@rule("a block of keys is a whole number of vectors")
def whole_vectors(block_n: int, vec: int) -> bool:
    return block_n % vec == 0


@rule("the kernel takes at least seqlen_q queries")
def takes_queries(max_q: int, seqlen_q: int) -> bool:
    return max_q >= seqlen_q


def _prefill_defaults(request: Any) -> Knobs:
    facts = target_facts(request.arch)
    return {
        "block_m": 64,
        "block_n": 64,
        "reg_m": 8 if facts["registers"] > 16 else 4,
        "reg_v": 2,
        "vec": facts["vector_bytes"] // 4,
        "unroll": 1,
        "exp": "poly",
    }


def _prefill_production(request: Any) -> Iterator[Knobs]:
    """Register tiles that fill the registers, by tile sizes, rolled and unrolled."""
    tiles = ((16, 1), (8, 3), (8, 2), (4, 4), (4, 3), (4, 2), (4, 1), (2, 4))
    for (reg_m, reg_v), block_m, block_n, unroll in product(tiles, (32, 48, 64, 96), (32, 64, 128), (1, 4)):
        yield {"block_m": block_m, "block_n": block_n, "reg_m": reg_m, "reg_v": reg_v, "unroll": unroll}


def _decode_defaults(request: Any) -> Knobs:
    facts = target_facts(request.arch)
    return {
        "max_q": next((most for most in MAX_Q if most >= request.seqlen_q), MOST_Q),
        "group_rows": 4,
        "block_n": 64,
        "reg_m": 1,
        "reg_v": 4 if facts["registers"] > 16 else 2,
        "vec": facts["vector_bytes"] // 4,
        "unroll": 1,
        "prefetch": 0,
        "exp": "poly",
    }


def _decode_production(request: Any) -> Iterator[Knobs]:
    """Rows by the vectors of values that still fit beside them, by block size and prefetching."""
    rows = ((1, 8), (1, 4), (2, 4), (4, 4), (4, 2), (7, 4), (7, 2), (7, 1), (8, 2), (8, 1), (16, 1))
    for max_q, (group_rows, reg_v), block_n, prefetch in product(MAX_Q, rows, (32, 128), (0, 8)):
        yield {
            "max_q": max_q,
            "group_rows": group_rows,
            "reg_v": reg_v,
            "block_n": block_n,
            "prefetch": prefetch,
        }


PREFILL = Algorithm(
    spec_type=PrefillSpec,
    axes=PREFILL_AXES,
    kernel_rules=(vector_fits, register_tile_fits, whole_queries, whole_keys, tile_fits),
    problem_rules=(),
    sizes=(),
    defaults=_prefill_defaults,
    production=_prefill_production,
)

DECODE = Algorithm(
    spec_type=DecodeSpec,
    axes=DECODE_AXES,
    kernel_rules=(vector_fits, scores_fit, sums_fit, whole_rows, whole_head, whole_vectors),
    problem_rules=(takes_queries,),
    sizes=("seqlen_q",),
    defaults=_decode_defaults,
    production=_decode_production,
)
