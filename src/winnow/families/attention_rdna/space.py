"""What can be tuned in the RDNA attention kernels, and what must hold between the knobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

from winnow.families.algorithm import Algorithm, Knobs
from winnow.families.attention_rdna.estimates import registers_needed, registers_to_spill
from winnow.families.attention_rdna.spec import RdnaAttentionSpec
from winnow.spaces import choices, rule
from winnow.targets.arches import arch_facts

ARCHES = ("gfx11-generic", "gfx12-generic", "gfx1151", "gfx1201")

_BLOCKS_M = (16, 32, 64, 128)
_BLOCKS_N = (16, 32, 64)

AXES = (
    choices("block_m", _BLOCKS_M),
    choices("block_n", _BLOCKS_N),
    choices("transposed", (0, 1)),
    choices("num_warps", (2, 4, 8, 16)),
    choices("num_stages", (1, 2)),
    choices("waves_per_eu", (0, 2)),
)

WARP = 32
_HALF_BYTES = 2
_MATRIX = 16 * 16


def target_facts(arch: str) -> dict[str, int]:
    """What rules may read of an RDNA target.

    `operand_copies`: how often a matrix operand lies in a wave's registers; both halves of a wave hold it before gfx12.
    """
    facts = arch_facts(arch)
    return {
        "lds_bytes": facts.lds_bytes or 0,
        "registers": facts.vgprs,
        "operand_copies": 2 if facts.target_family == "gfx11_rdna" else 1,
    }


@rule("every warp has a matrix of scores")
def warps_have_work(block_m: int, block_n: int, num_warps: int) -> bool:
    return block_m * block_n >= num_warps * _MATRIX


@rule("a tile of queries, and the tiles of keys in flight, fit the LDS")
def tiles_fit(width: int, block_m: int, block_n: int, num_stages: int, lds_bytes: int) -> bool:
    row = width * _HALF_BYTES
    return max(block_m, 2 * block_n * num_stages) * row <= lds_bytes


@rule("estimated registers exceed those of the target by at most half the width for each copy of an operand")
def registers_fit(
    width: int,
    block_m: int,
    block_n: int,
    transposed: int,
    num_warps: int,
    num_stages: int,
    bias: str,
    registers: int,
    operand_copies: int,
) -> bool:
    needed = registers_needed(
        width, block_m, block_n, transposed, num_warps, num_stages, bias != "none", operand_copies
    )
    return needed - registers <= registers_to_spill(width, operand_copies)


KERNEL_RULES = (warps_have_work, tiles_fit, registers_fit)

_SMALL = {"block_m": 64, "block_n": 32, "num_warps": 8}
_LARGE = {"block_m": 128, "block_n": 32, "num_warps": 8}
_SHARED = {"block_m": 128, "block_n": 32, "num_warps": 16}

# The largest tiles that spill least, by width: outputs and queries of wide heads are shared among 16 warps.
_DEFAULTS: Mapping[int, Mapping[int, Knobs]] = MappingProxyType(
    {
        2: {64: _SMALL, 96: _SHARED, 128: _SHARED, 160: _SHARED, 192: _SHARED, 256: _SHARED},
        1: {64: _LARGE, 96: _SHARED, 128: _SHARED, 160: _SHARED, 192: _SHARED, 256: _SHARED},
    }
)
"""Operand copies of the target → width → tile."""


def _defaults(request: Any) -> Knobs:
    copies = target_facts(request.arch)["operand_copies"]
    common = {"transposed": 0, "num_stages": 1, "waves_per_eu": 0}
    return {**_DEFAULTS[copies][request.width], **common}


def _production(request: Any) -> Iterator[Knobs]:
    """Tiles by warps, in both geometries, without a pipeline: two stages need registers that these targets lack."""
    for block_m, block_n, transposed, num_warps in product(_BLOCKS_M, _BLOCKS_N, (0, 1), (4, 8, 16)):
        yield {"block_m": block_m, "block_n": block_n, "transposed": transposed, "num_warps": num_warps}


ALGORITHM = Algorithm(
    spec_type=RdnaAttentionSpec,
    axes=AXES,
    kernel_rules=KERNEL_RULES,
    problem_rules=(),
    sizes=(),
    defaults=_defaults,
    production=_production,
    arches=ARCHES,
    facts=target_facts,
)
