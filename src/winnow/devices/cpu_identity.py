"""What identifies a CPU as a measuring instrument, and which of its processors is measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from winnow.identity import canonical_json, sha256_hex
from winnow.targets.cpu import CPUINFO, host_flags

POLICY_VERSION = 1
"""Raise it whenever the way of measuring changes, so that old and new timings are not compared."""

_CPUFREQ = "/sys/devices/system/cpu/cpu{}/cpufreq/{}"
_SHARED_PAGES = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")


def measured_cpu() -> int:
    """The processor that the worker is pinned to: of those this process may use, one of the fastest kind.

    The last of them, because interrupts and the system's own work tend to the first ones.
    """
    allowed = os.sched_getaffinity(0)
    return max(allowed, key=lambda cpu: (_max_khz(cpu), cpu))


def fingerprint(arch: str, cpu: int, pinned: bool) -> dict[str, str | int]:
    """What must be equal for timings of this machine to be comparable. Unreadable facts are empty or 0."""
    return {
        "device": "cpu",
        "arch": arch,
        "model": _model_name(),
        "cpus": os.cpu_count() or 0,
        "flags": sha256_hex(canonical_json(sorted(host_flags())))[:16],
        "max_khz": _max_khz(cpu),
        "governor": _read(Path(_CPUFREQ.format(cpu, "scaling_governor"))),
        "shared_huge_pages": _chosen(_read(_SHARED_PAGES)),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "worker": "pinned to one CPU" if pinned else "not pinned",
        "threads": 1,
        "policy": POLICY_VERSION,
    }


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _chosen(options: str) -> str:
    """The word in brackets of the kernel's `always [never] advise`."""
    return options.partition("[")[2].partition("]")[0]


def _max_khz(cpu: int) -> int:
    text = _read(Path(_CPUFREQ.format(cpu, "cpuinfo_max_freq")))
    return int(text) if text.isdecimal() else 0


def _model_name() -> str:
    for line in _read(CPUINFO).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return " ".join(value.split())
    return ""
