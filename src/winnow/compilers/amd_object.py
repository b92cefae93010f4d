"""What an AMD code object says of itself: its target from the ELF flags, arguments and resources from its note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgpack
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

from winnow.compilers.code_object import Argument, ArgumentKind, CodeObject
from winnow.compilers.elf_file import PACK_AGAIN, is_elf, open_elf, reading
from winnow.errors import InputError
from winnow.targets.arches import ARCHES

MATRIX_KEY = "winnow.matrix_instructions"
"""Key of the note, beside the standard ones, with the number of matrix instructions in the kernel's code."""

_OBJECT = "AMD code object"
_NOTE_TYPE, _OWNER = 32, "AMDGPU"
_MACHINE = 224
_MACH_MASK, _GENERIC_SHIFT = 0xFF, 24

_RESOURCES: Mapping[str, str] = {
    "lds_bytes": ".group_segment_fixed_size",
    "threads_per_block": ".max_flat_workgroup_size",
    "wave_size": ".wavefront_size",
    "vgprs": ".vgpr_count",
    "agprs": ".agpr_count",
    "sgprs": ".sgpr_count",
    "vgpr_spills": ".vgpr_spill_count",
    "sgpr_spills": ".sgpr_spill_count",
    "scratch_bytes": ".private_segment_fixed_size",
    "kernarg_bytes": ".kernarg_segment_size",
}
"""Our names of a kernel's resources, and the note's. The target decides which ones it has."""

_KINDS: Mapping[str, ArgumentKind] = {"global_buffer": "global_buffer", "by_value": "by_value"}


def read_amd_object(payload: bytes, symbol: str) -> CodeObject:
    """The object of `payload` with target, signature and resources as they stand in its bytes.

    Hidden arguments are left out of the signature. `resources` has registers and spills as counts, LDS, scratch and
    kernel arguments in bytes, `generic_version` (0 for an object of one processor) and `code_bytes`.

    Raises:
        InputError: not an AMD code object, malformed, for a target that nobody knows, or without that kernel.
    """
    with reading(_OBJECT):
        return _read(payload, symbol)


def is_amd_object(payload: bytes) -> bool:
    """Whether the bytes claim to be an ELF file for AMD GPUs."""
    return is_elf(payload, _MACHINE)


def kernels_of(payload: bytes) -> tuple[str, ...]:
    """The names of the kernels in an AMD code object.

    Raises:
        InputError: not an AMD code object, or malformed.
    """
    with reading(_OBJECT):
        return tuple(str(kernel[".name"]) for kernel in _metadata(_elf(payload))["amdhsa.kernels"])


def _elf(payload: bytes) -> ELFFile:
    if not is_amd_object(payload):
        raise ValueError("it is not an ELF file for AMD GPUs")
    return open_elf(payload)


def _read(payload: bytes, symbol: str) -> CodeObject:
    elf = _elf(payload)
    flags = elf.header["e_flags"]
    target = _target_of(flags & _MACH_MASK)
    if target is None:
        raise ValueError(f"its ELF flags {flags:#x} name no target that Winnow knows")
    metadata = _metadata(elf)
    found = [kernel for kernel in metadata["amdhsa.kernels"] if kernel[".name"] == symbol]
    if len(found) != 1:
        raise InputError(f'the object holds {len(found)} kernels called "{symbol}"', cure=PACK_AGAIN)
    (kernel,) = found
    resources = {name: int(kernel[key]) for name, key in _RESOURCES.items() if key in kernel}
    resources["generic_version"] = flags >> _GENERIC_SHIFT
    resources["code_bytes"] = _code_bytes(elf, symbol)
    if MATRIX_KEY in metadata:
        resources["matrix_instructions"] = int(metadata[MATRIX_KEY])
    return CodeObject(target, symbol, payload, _signature(kernel), resources)


def _target_of(machine: int) -> str | None:
    """The target whose EF_AMDGPU_MACH this is (LLVM AMDGPUUsage, "ELF header flags")."""
    return next((name for name, facts in ARCHES.items() if facts.elf_machine == machine), None)


def _metadata(elf: ELFFile) -> Mapping[str, Any]:
    for section in elf.iter_sections():
        if not isinstance(section, NoteSection):
            continue
        for note in section.iter_notes():
            if note["n_name"] == _OWNER and note["n_type"] in (_NOTE_TYPE, "NT_AMDGPU_METADATA"):
                raw = note["n_desc"]
                unpacked: Mapping[str, Any] = msgpack.unpackb(raw.encode("latin-1") if isinstance(raw, str) else raw)
                return unpacked
    raise ValueError("it has no metadata note")


def _signature(kernel: Mapping[str, Any]) -> tuple[Argument, ...]:
    arguments: list[Argument] = []
    for i, argument in enumerate(kernel.get(".args", ())):
        kind = str(argument[".value_kind"])
        if kind.startswith("hidden_"):
            continue
        if kind not in _KINDS:
            raise ValueError(f"argument {i} is a {kind}")
        name = str(argument.get(".name", f"argument{i}"))
        by_value = str(argument.get(".type_name", "")) if kind == "by_value" else ""
        arguments.append(Argument(_KINDS[kind], int(argument[".size"]), int(argument[".offset"]), name, by_value))
    return tuple(arguments)


def _code_bytes(elf: ELFFile, symbol: str) -> int:
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            for entry in section.get_symbol_by_name(symbol) or ():
                if entry["st_info"]["type"] == "STT_FUNC":
                    return int(entry["st_size"])
    raise ValueError(f'it exports no code called "{symbol}"')
