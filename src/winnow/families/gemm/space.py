"""What can be tuned in the GEMM kernels, and what must hold between the knobs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from winnow.families.algorithm import Algorithm, Knobs
from winnow.families.cpu import VECTOR_WIDTHS, target_facts
from winnow.families.gemm.spec import BlockedSpec, SkinnySpec
from winnow.spaces import choices, rule

BLOCKED_AXES = (
    choices("edge", (0, 1)),
    choices("block_m", (32, 48, 64, 96, 128, 144, 192, 256)),
    choices("block_n", (64, 96, 128, 192, 256, 384, 512)),
    choices("block_k", (64, 128, 192, 256, 384)),
    choices("reg_m", (1, 2, 4, 6, 8, 12)),
    choices("reg_v", (1, 2, 3, 4)),
    choices("vec", VECTOR_WIDTHS),
    choices("unroll_k", (1, 4)),
    choices("pack_a", (0, 1)),
    choices("pack_b", (0, 1)),
)

ROWS = (1, 2, 4, 8)
MOST_ROWS = max(ROWS)
"""The most rows that any skinny kernel takes."""

SKINNY_AXES = (
    choices("rows", ROWS),
    choices("streams", (1, 2, 3, 4, 6, 8)),
    choices("block", (256, 512, 1024, 2048, 4096)),
    choices("vec", VECTOR_WIDTHS),
    choices("unroll", (1, 2, 4, 8)),
    choices("prefetch", (0, 4, 8, 16, 32)),
)


@rule("a vector fits a register")
def vector_fits(vec: int, vector_bytes: int) -> bool:
    return 4 * vec <= vector_bytes


@rule("the register tile, a line of B and an element of A fit the registers")
def register_tile_fits(reg_m: int, reg_v: int, registers: int) -> bool:
    return reg_m * reg_v + reg_v + 1 <= registers


@rule("block_m is a whole number of register tiles")
def whole_rows(block_m: int, reg_m: int) -> bool:
    return block_m % reg_m == 0


@rule("block_n is a whole number of register tiles")
def whole_columns(block_n: int, reg_v: int, vec: int) -> bool:
    return block_n % (reg_v * vec) == 0


@rule("the tiles of A and B fit the second cache")
def tiles_fit(block_m: int, block_n: int, block_k: int, l2_bytes: int) -> bool:
    return 4 * block_k * (block_m + block_n) <= l2_bytes


@rule("B is read in place only where it is contiguous along n")
def in_place_needs_rows(pack_b: int, b_layout: str) -> bool:
    return pack_b == 1 or b_layout == "row"


@rule("without code for the edge, n is a whole number of register tiles")
def no_edge_needs_multiple(edge: int, reg_v: int, vec: int, n: int) -> bool:
    return edge == 1 or n % (reg_v * vec) == 0


@rule("the sums, a vector of B and one of A fit the registers")
def sums_fit(b_layout: str, rows: int, streams: int, unroll: int, registers: int) -> bool:
    sums = rows * unroll if b_layout == "row" else rows * unroll * streams
    return sums + 2 <= registers


@rule("the block of C or of A fits a quarter of the second cache")
def block_fits(rows: int, block: int, l2_bytes: int) -> bool:
    return 4 * rows * block <= l2_bytes // 4


@rule("the kernel takes at least m rows")
def takes_rows(rows: int, m: int) -> bool:
    return rows >= m


def _blocked_defaults(request: Any) -> Knobs:
    facts = target_facts(request.arch)
    wide = facts["registers"] > 16
    return {
        "edge": 1,
        "block_m": 96,
        "block_n": 256 if wide else 192,
        "block_k": 256 if wide else 192,
        "reg_m": 6 if wide else 4,
        "reg_v": 4 if wide else 3,
        "vec": facts["vector_bytes"] // 4,
        "unroll_k": 1,
        "pack_a": 0,
        "pack_b": 1,
    }


def _blocked_production(request: Any) -> Iterator[Knobs]:
    """Register tiles that fill the registers, by block sizes, by packing, with and without code for the edge."""
    tiles = ((12, 2), (8, 3), (8, 2), (6, 4), (6, 2), (4, 4), (4, 3), (4, 2), (2, 4), (1, 4))
    blocks = ((48, 192, 192), (96, 192, 192), (96, 256, 256), (192, 192, 128))
    for (reg_m, reg_v), (block_m, block_n, block_k) in product(tiles, blocks):
        for edge, pack_a, pack_b in product((1, 0), (0, 1), (1, 0)):
            yield {
                "edge": edge,
                "block_m": block_m,
                "block_n": block_n,
                "block_k": block_k,
                "reg_m": reg_m,
                "reg_v": reg_v,
                "pack_a": pack_a,
                "pack_b": pack_b,
            }


def _skinny_defaults(request: Any) -> Knobs:
    facts = target_facts(request.arch)
    rows = next((rows for rows in ROWS if rows >= request.m), MOST_ROWS)
    room = facts["registers"] - 2
    if request.b_layout == "row":
        streams, unroll = 8, 2 if 2 * rows <= room else 1
    else:
        streams, unroll = max(streams for streams in (1, 2, 3, 4) if rows * streams <= room), 1
    return {
        "rows": rows,
        "streams": streams,
        "block": 2048,
        "vec": facts["vector_bytes"] // 4,
        "unroll": unroll,
        "prefetch": 0,
    }


def _skinny_production(request: Any) -> Iterator[Knobs]:
    """Every number of rows and streams, by block size, unrolling and prefetching."""
    for rows, streams, unroll in product(ROWS, (1, 2, 4, 8), (1, 2, 4)):
        for block, prefetch in product((1024, 2048), (0, 8)):
            yield {"rows": rows, "streams": streams, "unroll": unroll, "block": block, "prefetch": prefetch}


BLOCKED = Algorithm(
    spec_type=BlockedSpec,
    axes=BLOCKED_AXES,
    kernel_rules=(
        vector_fits,
        register_tile_fits,
        whole_rows,
        whole_columns,
        tiles_fit,
        in_place_needs_rows,
    ),
    problem_rules=(no_edge_needs_multiple,),
    sizes=("n",),
    defaults=_blocked_defaults,
    production=_blocked_production,
)

SKINNY = Algorithm(
    spec_type=SkinnySpec,
    axes=SKINNY_AXES,
    kernel_rules=(vector_fits, sums_fit, block_fits),
    problem_rules=(takes_rows,),
    sizes=("m",),
    defaults=_skinny_defaults,
    production=_skinny_production,
)
