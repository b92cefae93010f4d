"""RDNA kernels become generic objects whose own bytes say what they are for and what they take."""

from __future__ import annotations

import struct

import pytest
from rdna_kernels import spec_of

from winnow.compilers.triton import compile_triton, find_triton
from winnow.compilers.triton_types import NULL_POINTERS
from winnow.families.attention_rdna.cells import Cell
from winnow.families.attention_rdna.forward import build_attention_rdna

E_FLAGS = 48
GENERIC_VERSION_1 = 1 << 24
MACHINES = {"gfx11-generic": 0x54, "gfx12-generic": 0x59}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "cell"),
    [("gfx11-generic", Cell(96, 16, "band", "same")), ("gfx12-generic", Cell(192, 192, "causal", "none"))],
    ids=["gfx11-generic", "gfx12-generic"],
)
def test_objects_are_generic_and_take_what_their_cell_needs(arch: str, cell: Cell) -> None:
    source = build_attention_rdna(spec_of(cell, arch=arch), arch=arch)
    compiled = compile_triton(source, arch, find_triton())
    (flags,) = struct.unpack_from("<I", compiled.payload, E_FLAGS)
    assert flags == GENERIC_VERSION_1 | MACHINES[arch]
    assert [argument.name for argument in compiled.signature] == [
        *(name for name, _ in source.signature),
        *NULL_POINTERS,
    ]
    resources = compiled.resources
    assert resources["threads_per_block"] == 32 * source.num_warps
    assert resources["matrix_instructions"] > 0
    # Wide heads spill; these must not, or loads in the loop have come to keep their addresses in registers.
    assert resources["vgpr_spills"] <= 8
