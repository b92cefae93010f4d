"""What can be tuned in the dense attention kernels, and what must hold between the knobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

from winnow.families.algorithm import Algorithm, Knobs
from winnow.families.attention_dense.estimates import (
    inert_knobs,
    padded_lds_bytes,
    registers_needed,
    registers_there,
    target_facts,
    tile_lds_bytes,
    waves_of,
)
from winnow.families.attention_dense.spec import AttentionDenseSpec
from winnow.spaces import choices, rule

DTYPES = ("fp16", "bf16")
HEAD_SIZES = (64, 128)

ARCHES = ("gfx942", "gfx950", "gfx11-generic", "gfx1151", "gfx12-generic", "gfx1201", "gfx1250", "sm_90")

_MATRIX = 16 * 16

AXES = (
    choices("block_m", (32, 64, 128, 256)),
    choices("block_n", (32, 64, 128, 256)),
    choices("num_warps", (0, 1, 2, 4, 8, 16)),
    choices("num_stages", (1, 2, 3)),
    choices("waves_per_eu", (0, 1, 2, 4)),
    choices("matrix_size", (0, 16, 32)),
    choices("kpack", (1, 2)),
)


@rule("kernels are written for fp16 and bf16 and heads of 64 and 128 elements")
def head_is_written(dtype: str, head_size: int) -> bool:
    return dtype in DTYPES and head_size in HEAD_SIZES


@rule("query heads share key heads evenly")
def heads_are_shared(num_query_heads: int, num_kv_heads: int) -> bool:
    return num_kv_heads > 0 and num_query_heads > 0 and num_query_heads % num_kv_heads == 0


@rule("neither ragged lengths nor sliding windows are written")
def dense_alone(sliding_window: int, ragged: bool) -> bool:
    return sliding_window == 0 and not ragged


@rule("two padded buffers of keys and values fit the LDS")
def padded_tiles_fit(head_size: int, block_n: int, lds_bytes: int, double_buffered: int) -> bool:
    return not double_buffered or padded_lds_bytes(head_size, block_n) <= lds_bytes


@rule("the tile's queries, weights, keys and values fit the LDS")
def tiles_fit(
    head_size: int, block_m: int, block_n: int, num_stages: int, operands_in_lds: int, lds_bytes: int
) -> bool:
    return tile_lds_bytes(head_size, block_m, block_n, num_stages, operands_in_lds) <= lds_bytes


@rule("a tile of keys is no longer than a tile of queries")
def whole_tiles(block_m: int, block_n: int) -> bool:
    return block_m % block_n == 0


@rule("every wave has a matrix of scores")
def waves_have_work(block_m: int, block_n: int, num_warps: int) -> bool:
    return block_m * block_n >= _MATRIX * waves_of(block_m, num_warps)


@rule("num_warps is given where it is not one wave for 32 queries")
def waves_are_not_the_usual(block_m: int, num_warps: int) -> bool:
    return num_warps != waves_of(block_m, 0)


@rule("outputs, scores and queries are at most a quarter more than the registers")
def registers_fit(
    head_size: int,
    block_m: int,
    block_n: int,
    num_warps: int,
    num_stages: int,
    waves_per_eu: int,
    wave_size: int,
    operand_copies: int,
    registers: int,
    register_file: int,
) -> bool:
    waves = waves_of(block_m, num_warps)
    needed = registers_needed(head_size, block_m, block_n, waves, num_stages, wave_size, operand_copies)
    return 4 * needed <= 5 * registers_there(waves, waves_per_eu, registers, register_file)


@rule("waves_per_eu is varied where it is heard")
def waves_are_heard(waves_per_eu: int, hears_waves: int) -> bool:
    return bool(hears_waves) or waves_per_eu == 0


@rule("matrix_size is varied where it is heard")
def matrix_size_is_heard(matrix_size: int, hears_matrix_size: int) -> bool:
    return bool(hears_matrix_size) or matrix_size == 0


@rule("kpack is varied where it is heard")
def kpack_is_heard(kpack: int, hears_kpack: int) -> bool:
    return bool(hears_kpack) or kpack == 1


KERNEL_RULES = (
    head_is_written,
    heads_are_shared,
    dense_alone,
    padded_tiles_fit,
    tiles_fit,
    whole_tiles,
    waves_have_work,
    waves_are_not_the_usual,
    registers_fit,
    waves_are_heard,
    matrix_size_is_heard,
    kpack_is_heard,
)

_CDNA_TILE: Knobs = MappingProxyType({"block_m": 128, "block_n": 64, "num_warps": 0, "num_stages": 1})
_RDNA_TILE: Knobs = MappingProxyType({"block_m": 64, "block_n": 32, "num_warps": 8, "num_stages": 1})
_HOPPER_TILE: Knobs = MappingProxyType({"block_m": 128, "block_n": 64, "num_warps": 8, "num_stages": 2})

_TILES: Mapping[str, Knobs] = MappingProxyType(
    {
        "gfx942": _CDNA_TILE,
        "gfx950": _CDNA_TILE,
        "gfx1250": _CDNA_TILE,
        "gfx11-generic": _RDNA_TILE,
        "gfx1151": _RDNA_TILE,
        "gfx12-generic": _RDNA_TILE,
        "gfx1201": _RDNA_TILE,
        "sm_90": _HOPPER_TILE,
    }
)
"""The tile that a target is given where nothing is pinned."""


def _defaults(request: Any) -> Knobs:
    return {**_TILES[request.arch], "waves_per_eu": 0, "matrix_size": 0, "kpack": 1}


def _canonical(arch: str, knobs: Knobs) -> Knobs:
    usual = knobs["num_warps"] == waves_of(knobs["block_m"], 0)
    return {**knobs, **inert_knobs(arch), **({"num_warps": 0} if usual else {})}


def _production(request: Any) -> Iterator[Knobs]:
    """Tiles by waves and stages; what the compiler chooses well by itself stays with it."""
    for block_m, block_n, num_warps, num_stages in product((64, 128, 256), (32, 64, 128), (0, 4, 8, 16), (1, 2)):
        yield {"block_m": block_m, "block_n": block_n, "num_warps": num_warps, "num_stages": num_stages}


ALGORITHM = Algorithm(
    spec_type=AttentionDenseSpec,
    axes=AXES,
    kernel_rules=KERNEL_RULES,
    problem_rules=(),
    sizes=(),
    defaults=_defaults,
    production=_production,
    arches=ARCHES,
    facts=target_facts,
    canonical_knobs=_canonical,
)
