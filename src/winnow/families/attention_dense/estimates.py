"""What a tile needs of local memory and registers, before any compiler is asked."""

from __future__ import annotations

from collections.abc import Mapping

from winnow.targets.arches import arch_facts

ELEMENT_BYTES = 2
_REGISTER_BYTES = 4
_OTHER_REGISTERS = 32
"""Addresses, row maxima and sums, loop counters: what stays about the same for every tile."""

_EXTENDED_REGISTERS: Mapping[str, int] = {"gfx1250": 1024}
_REGISTER_FILES: Mapping[str, int] = {"gfx9_mfma": 512, "gfx950": 512, "sm_90": 512}


def target_facts(arch: str) -> dict[str, int]:
    """What rules and estimates may read of a GPU target.

    `registers` is the most that a lane can address, `register_file` what the lanes of a SIMD share, in the same unit;
    `operand_copies`, how often a matrix operand lies in a wave's registers (both halves of a wave hold it on gfx11).
    """
    facts = arch_facts(arch)
    cdna = facts.target_family in ("gfx9_mfma", "gfx950")
    return {
        "wave_size": facts.wave_size,
        "lds_bytes": facts.lds_bytes or 0,
        "registers": _EXTENDED_REGISTERS.get(arch, facts.vgprs),
        "register_file": _REGISTER_FILES.get(facts.target_family, 1024),
        "operand_copies": 2 if facts.target_family == "gfx11_rdna" else 1,
        "double_buffered": int(arch == "gfx950"),
        "operands_in_lds": int(facts.runtime == "nvptx"),
        "hears_waves": int(facts.runtime == "amdgpu"),
        "hears_matrix_size": int(cdna),
        "hears_kpack": int(facts.target_family == "gfx9_mfma"),
    }


def inert_knobs(arch: str) -> Mapping[str, int]:
    """The knobs that change nothing on a target, with the value that stands for them."""
    facts = target_facts(arch)
    neutral = {"waves_per_eu": ("hears_waves", 0), "matrix_size": ("hears_matrix_size", 0), "kpack": ("hears_kpack", 1)}
    return {knob: value for knob, (heard, value) in neutral.items() if not facts[heard]}


def waves_of(block_m: int, num_warps: int) -> int:
    """Waves of a workgroup: 0 stands for one for 32 queries."""
    return num_warps or block_m // 32


def padded_lds_bytes(head_size: int, block_n: int) -> int:
    """Static local memory of two buffers each of keys and values with the pads that hipDNN's gfx950 kernels have.

    Heads of 128 elements: keys padded by 8 elements, values by 32. Of 64: two rows of keys to a group of 128 with 8
    more, values without a pad.
    """
    row = (128 + 8) + (128 + 32) if head_size == 128 else (128 + 8) // 2 + 64
    return 2 * ELEMENT_BYTES * block_n * row


def tile_lds_bytes(head_size: int, block_m: int, block_n: int, num_stages: int, operands_in_lds: int) -> int:
    """Local memory of a tile as Triton lays it out.

    On AMD the queries, the weights on their way between matrix products, and the keys and values take turns; on
    NVIDIA matrix instructions read queries, keys and values there, all at once.
    """
    queries, weights, keys = block_m * head_size, block_m * block_n, block_n * head_size
    if operands_in_lds:
        return ELEMENT_BYTES * (queries + 2 * num_stages * keys)
    in_flight = keys if num_stages == 1 else 2 * (num_stages - 1) * keys
    return ELEMENT_BYTES * max(queries, weights, in_flight)


def registers_needed(
    head_size: int, block_m: int, block_n: int, waves: int, num_stages: int, wave_size: int, operand_copies: int
) -> int:
    """Registers of a lane: outputs and scores in 4 bytes an element, weights, queries and keys on their way in 2."""
    in_flight = block_n * head_size * (1 if num_stages == 1 else 2 * (num_stages - 1))
    halves = block_m * block_n + operand_copies * block_m * head_size + in_flight
    wholes = block_m * head_size + block_m * block_n
    return (wholes + -(-halves * ELEMENT_BYTES // _REGISTER_BYTES)) // (waves * wave_size) + _OTHER_REGISTERS


def registers_there(waves: int, waves_per_eu: int, registers: int, register_file: int) -> int:
    """Registers that a lane can have: a workgroup's waves are resident on four SIMDs, or as many as are asked for."""
    return min(registers, register_file // max(1, waves // 4, waves_per_eu))
