"""The x86-64 levels as targets: which one this machine runs, and what each one means to a compiler and a kernel."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from winnow.errors import InputError, Place, nearest
from winnow.targets.arches import ARCHES, ArchFacts

# The features that the x86-64 psABI requires of each level, in the spelling of /proc/cpuinfo, lowest level first.
_LEVELS: tuple[tuple[str, frozenset[str]], ...] = (
    ("x86-64-v1", frozenset(["cmov", "cx8", "fpu", "fxsr", "mmx", "syscall", "sse", "sse2"])),
    ("x86-64-v2", frozenset(["cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"])),
    ("x86-64-v3", frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"])),
    ("x86-64-v4", frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])),
)

CPUINFO = Path("/proc/cpuinfo")


def host_level(cpuinfo: Path = CPUINFO) -> str:
    """The highest target that every processor of this machine runs: `x86-64-v2`, `x86-64-v3` or `x86-64-v4`.

    Raises:
        InputError: not Linux on x86-64, no readable processor list, or a processor below `x86-64-v2`.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise InputError(
            f"the CPU device needs Linux on x86_64 (this is {sys.platform} on {platform.machine()})",
            cure="use another device, or an x86_64 Linux machine or container",
        )
    return level_of(host_flags(cpuinfo), cpuinfo)


def host_flags(cpuinfo: Path = CPUINFO) -> frozenset[str]:
    """The feature flags that all processors of this machine share (hybrid processors may differ).

    Raises:
        InputError: the list cannot be read or has no flags.
    """
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=Place(str(cpuinfo))) from None
    rows = [frozenset(line.partition(":")[2].split()) for line in text.splitlines() if line.startswith("flags")]
    if not rows:
        raise InputError("no line of flags in it", place=Place(str(cpuinfo)), cure="mount /proc of the host")
    return frozenset.intersection(*rows)


def level_of(flags: frozenset[str], cpuinfo: Path = CPUINFO) -> str:
    """The highest level whose features, and those of every level below it, are in `flags`.

    Raises:
        InputError: not even `x86-64-v2`; the message names the first features that are missing.
    """
    reached = ""
    for level, needed in _LEVELS:
        missing = needed - flags
        if missing:
            break
        reached = level
    if reached in ARCHES:
        return reached
    raise InputError(
        f"this processor lacks {', '.join(sorted(missing))}, which {level} needs",
        place=Place(str(cpuinfo)),
        cure="the CPU device needs x86-64-v2 or higher; in a virtual machine, pass the host's processor through",
    )


def cpu_targets() -> tuple[str, ...]:
    """Every CPU target. The generic one is built at the lowest level, so all the others run it."""
    return tuple(name for name, facts in ARCHES.items() if facts.runtime == "cpu" and facts.march)


def march(target: str) -> str:
    """The value of the compiler's `-march=` for a CPU target.

    Raises:
        InputError: not a CPU target.
    """
    return _cpu_target(target).march


def vector_bytes(target: str) -> int:
    """Bytes of the widest vector register that code for a CPU target may use: 16, 32 or 64.

    Raises:
        InputError: not a CPU target.
    """
    return _cpu_target(target).vector_bytes or 0


def _cpu_target(target: str) -> ArchFacts:
    if target not in cpu_targets():
        raise InputError(f'"{target}" is not a CPU target', cure=nearest(target, cpu_targets()))
    return ARCHES[target]
