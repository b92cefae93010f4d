"""What is known of each architecture: local memory, lanes, registers, matrix instructions, and who says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from winnow.errors import InputError, nearest

Runtime = Literal["amdgpu", "nvptx", "cpu"]


@dataclass(frozen=True)
class Mma:
    """One matrix instruction: D (m×n) = A (m×k) · B (k×n) + C, with the element types of A, B and the accumulator."""

    a: str
    b: str
    c: str
    m: int
    n: int
    k: int
    op_id: str


@dataclass(frozen=True)
class ArchFacts:
    """Facts of one architecture. None means that the notion does not exist there.

    `wave_size` in lanes, `lds_bytes` and `vector_bytes` in bytes; registers as one thread can address them (on a CPU
    `vgprs` counts the vector registers).
    """

    name: str
    runtime: Runtime
    family: str
    target_family: str
    source: str
    wave_size: int = 1
    lds_bytes: int | None = None
    max_threads_per_block: int = 1
    vgprs: int = 0
    agprs: int = 0
    sgprs: int = 0
    vmcnt_bits: int | None = None
    buffer_load_max_dwords: int | None = None
    vector_bytes: int | None = None
    memory: frozenset[str] = frozenset()
    mma: tuple[Mma, ...] = ()


_SUFFIX = {"fp32": "f32", "fp16": "f16", "fp8e4m3": "fp8", "bf8e5m2": "bf8"}
_HALF = ("fp16", "bf16")
_EIGHT_BIT = ("fp8e4m3", "bf8e5m2")


def _same_type(prefix: str, types: tuple[str, ...], *shapes: tuple[int, int, int], c: str = "fp32") -> tuple[Mma, ...]:
    return tuple(
        Mma(t, t, c, m, n, k, f"{prefix}_{m}x{n}x{k}_{_SUFFIX.get(t, t)}") for t in types for m, n, k in shapes
    )


_GFX90A_MMA = _same_type("mfma_f32", _HALF, (16, 16, 16), (32, 32, 8))
_GFX942_MMA = (
    _same_type("mfma_f32", ("fp32",), (16, 16, 4), (32, 32, 2))
    + _GFX90A_MMA
    + _same_type("mfma_f32", _EIGHT_BIT, (16, 16, 32), (32, 32, 16))
)
_GFX950_MMA = (
    _GFX942_MMA
    + _same_type("mfma_f32", _HALF, (16, 16, 32), (32, 32, 16))
    + _same_type("mfma_f32", ("fp4",), (16, 16, 128))
    + _same_type("mfma_f32", ("fp6",), (16, 16, 96))
)
_GFX11_MMA = _same_type("wmma_f32", _HALF, (16, 16, 16)) + _same_type("wmma_i32", ("iu8", "iu4"), (16, 16, 16), c="i32")
_GFX1201_MMA = _same_type("wmma_gfx12_f32", _HALF, (16, 16, 16))
_GFX1250_MMA = (
    _same_type("wmma_gfx1250_f32", ("fp32",), (16, 16, 4))
    + _same_type("wmma_gfx1250_f32", _HALF, (16, 16, 32))
    + tuple(
        Mma(a, b, "fp32", 16, 16, 64, f"wmma_gfx1250_f32_16x16x64_{_SUFFIX[a]}_{_SUFFIX[b]}")
        for a in _EIGHT_BIT
        for b in _EIGHT_BIT
    )
)
_SM80_MMA = (
    _same_type("mma_sync_f32", _HALF, (16, 8, 16))
    + _same_type("mma_sync_f32", ("tf32",), (16, 8, 8))
    + _same_type("mma_sync_i32", ("i8",), (16, 8, 32), c="i32")
)
_SM90_MMA = _SM80_MMA + _same_type("wgmma_f32", _HALF, *((64, n, 16) for n in (8, 16, 32, 64, 128, 256)))

_ROCKE = "rocKE arch_specs.json"
_CDNA3 = ArchFacts(
    name="gfx942",
    runtime="amdgpu",
    family="cdna",
    target_family="gfx9_mfma",
    source=_ROCKE,
    wave_size=64,
    lds_bytes=65536,
    max_threads_per_block=1024,
    vgprs=512,
    agprs=256,
    sgprs=102,
    vmcnt_bits=4,
    buffer_load_max_dwords=4,
    memory=frozenset({"async_lds"}),
    mma=_GFX942_MMA,
)
_RDNA35 = ArchFacts(
    name="gfx1151",
    runtime="amdgpu",
    family="rdna",
    target_family="gfx11_rdna",
    source=_ROCKE,
    wave_size=32,
    lds_bytes=65536,
    max_threads_per_block=1024,
    vgprs=256,
    sgprs=106,
    vmcnt_bits=6,
    buffer_load_max_dwords=4,
    mma=_GFX11_MMA,
)
_RDNA4 = replace(_RDNA35, name="gfx1201", target_family="gfx12_rdna", mma=_GFX1201_MMA)
_AMPERE = ArchFacts(
    name="sm_80",
    runtime="nvptx",
    family="ampere",
    target_family="sm_80",
    source="CUDA C++ Programming Guide, technical specifications of compute capability 8.0; PTX ISA",
    wave_size=32,
    lds_bytes=163 * 1024,
    max_threads_per_block=1024,
    vgprs=255,
    memory=frozenset({"async_lds"}),
    mma=_SM80_MMA,
)
_X86_V2 = ArchFacts(
    name="x86-64-v2",
    runtime="cpu",
    family="x86-64",
    target_family="x86-64-v2",
    source="x86-64 psABI micro-architecture levels: SSE4.2",
    vgprs=16,
    vector_bytes=16,
)

_SAME_ISA = "body of {} (LLVM AMDGPUUsage: members of one generic target share an ISA)"


def _alike(facts: ArchFacts, *names: str) -> tuple[ArchFacts, ...]:
    return tuple(replace(facts, name=name, source=_SAME_ISA.format(facts.name)) for name in names)


_ROWS = (
    replace(_CDNA3, name="gfx90a", memory=frozenset(), mma=_GFX90A_MMA),
    _CDNA3,
    replace(
        _CDNA3,
        name="gfx950",
        target_family="gfx950",
        lds_bytes=163840,
        vmcnt_bits=6,
        memory=frozenset({"async_lds", "ds_read_tr"}),
        mma=_GFX950_MMA,
    ),
    _RDNA35,
    replace(_RDNA35, name="gfx11-generic"),
    *_alike(_RDNA35, "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1152", "gfx1153"),
    _RDNA4,
    *_alike(_RDNA4, "gfx1200", "gfx12-generic"),
    replace(
        _RDNA35,
        name="gfx1250",
        family="cdna",
        target_family="gfx12_cdna",
        source=_ROCKE + " (vgprs without the extended bank: compiled objects report up to 1024)",
        lds_bytes=163840,
        memory=frozenset({"async_global_lds", "tdm"}),
        mma=_GFX1250_MMA,
    ),
    _AMPERE,
    replace(
        _AMPERE,
        name="sm_90",
        family="hopper",
        target_family="sm_90",
        source="CUDA C++ Programming Guide, technical specifications of compute capability 9.0; PTX ISA (wgmma)",
        lds_bytes=227 * 1024,
        mma=_SM90_MMA,
    ),
    _X86_V2,
    replace(
        _X86_V2,
        name="x86-64-v3",
        target_family="x86-64-v3",
        source="x86-64 psABI micro-architecture levels: AVX2, FMA",
        vector_bytes=32,
    ),
    replace(
        _X86_V2,
        name="x86-64-v4",
        target_family="x86-64-v4",
        source="x86-64 psABI micro-architecture levels: AVX-512 F, BW, CD, DQ, VL",
        vgprs=32,
        vector_bytes=64,
    ),
    replace(_X86_V2, name="x86-64-generic", source="built as x86-64-v2, which every member runs"),
)

ARCHES: Mapping[str, ArchFacts] = MappingProxyType({facts.name: facts for facts in _ROWS})
"""Facts by target name, generic targets included (theirs are what every member offers)."""

KNOWN_ARCHES: frozenset[str] = frozenset(ARCHES)
"""Every target name that a registry, a manifest or a catalog may use."""


def arch_facts(name: str) -> ArchFacts:
    """The facts of `name`.

    Raises:
        InputError: an unknown architecture, with the nearest known name.
    """
    if name not in ARCHES:
        raise InputError(f'unknown architecture "{name}"', cure=nearest(name, KNOWN_ARCHES))
    return ARCHES[name]
