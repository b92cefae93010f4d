"""The architectures that Winnow knows: one row each, with everything that is known of it and who says so."""

from __future__ import annotations

from dataclasses import replace

from winnow.targets.arches import ArchFacts, Mma, TargetTable

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
    elf_machine=0x4C,
    runtime="amdgpu",
    device="hip",
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
    elf_machine=0x4A,
    runtime="amdgpu",
    device="hip",
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
_RDNA4 = replace(_RDNA35, name="gfx1201", elf_machine=0x4E, target_family="gfx12_rdna", mma=_GFX1201_MMA)
_AMPERE = ArchFacts(
    name="sm_80",
    runtime="nvptx",
    device="cuda",
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
    march="x86-64-v2",
    runtime="cpu",
    device="cpu",
    family="x86-64",
    target_family="x86-64-v2",
    source="x86-64 psABI micro-architecture levels: SSE4.2",
    vgprs=16,
    vector_bytes=16,
)

_SAME_ISA = "body of {} (LLVM AMDGPUUsage: members of one generic target share an ISA)"


def _alike(facts: ArchFacts, name: str, elf_machine: int) -> ArchFacts:
    return replace(facts, name=name, elf_machine=elf_machine, source=_SAME_ISA.format(facts.name))


_ROWS = (
    replace(_CDNA3, name="gfx90a", elf_machine=0x3F, memory=frozenset(), mma=_GFX90A_MMA),
    _CDNA3,
    replace(
        _CDNA3,
        name="gfx950",
        elf_machine=0x4F,
        target_family="gfx950",
        lds_bytes=163840,
        vmcnt_bits=6,
        memory=frozenset({"async_lds", "ds_read_tr"}),
        mma=_GFX950_MMA,
    ),
    _RDNA35,
    replace(_RDNA35, name="gfx11-generic", elf_machine=0x54, base="gfx1100"),
    _alike(_RDNA35, "gfx1100", 0x41),
    _alike(_RDNA35, "gfx1101", 0x46),
    _alike(_RDNA35, "gfx1102", 0x47),
    _alike(_RDNA35, "gfx1103", 0x44),
    _alike(_RDNA35, "gfx1150", 0x43),
    _alike(_RDNA35, "gfx1152", 0x55),
    _alike(_RDNA35, "gfx1153", 0x58),
    _RDNA4,
    _alike(_RDNA4, "gfx1200", 0x48),
    replace(_alike(_RDNA4, "gfx12-generic", 0x59), base="gfx1201"),
    replace(
        _RDNA35,
        name="gfx1250",
        elf_machine=0x49,
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
        march="x86-64-v3",
        target_family="x86-64-v3",
        source="x86-64 psABI micro-architecture levels: AVX2, FMA",
        vector_bytes=32,
    ),
    replace(
        _X86_V2,
        name="x86-64-v4",
        march="x86-64-v4",
        target_family="x86-64-v4",
        source="x86-64 psABI micro-architecture levels: AVX-512 F, BW, CD, DQ, VL",
        vgprs=32,
        vector_bytes=64,
    ),
    replace(_X86_V2, name="x86-64-generic", source="built as x86-64-v2, which every member runs"),
)

TABLE = TargetTable(
    arches=_ROWS,
    generics={
        "gfx11-generic": (
            "gfx1100",
            "gfx1101",
            "gfx1102",
            "gfx1103",
            "gfx1150",
            "gfx1151",
            "gfx1152",
            "gfx1153",
        ),
        "gfx12-generic": ("gfx1200", "gfx1201"),
        "x86-64-generic": ("x86-64-v2", "x86-64-v3", "x86-64-v4"),
    },
)
"""The gfx members are hipDNN's whole table; the CPU's are Winnow's own."""
