"""What identifies a CPU as a measuring instrument, and which of its processors is measured on."""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path

from winnow.identity import canonical_json, sha256_hex
from winnow.targets.cpu import CPUINFO, host_flags

POLICY_VERSION = 1
"""Raise it whenever the way of measuring changes, so that old and new timings are not compared."""

_CLAIM_NAME = "winnow-measures-on-cpu-"
_CPUFREQ = "/sys/devices/system/cpu/cpu{}/cpufreq/{}"
_SHARED_PAGES = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")


class CpuClaim:
    """The processor that a worker is pinned to, so that two devices on one machine measure on two processors.

    Of those this process may use it is one of the fastest kind that no other device has claimed, the last of them,
    because interrupts and the system's own work tend to the first ones. Where all are claimed, it is shared. A claim
    is a socket bound to an abstract name: the kernel takes it back from a process that dies.
    """

    def __init__(self) -> None:
        ordered = sorted(os.sched_getaffinity(0), key=lambda cpu: (_max_khz(cpu), cpu), reverse=True)
        fastest = [cpu for cpu in ordered if _max_khz(cpu) == _max_khz(ordered[0])]
        self.cpu = fastest[0]
        self._held: socket.socket | None = None
        for cpu in fastest:
            held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                held.bind(f"\0{_CLAIM_NAME}{cpu}")
            except OSError:
                held.close()
                continue
            self.cpu, self._held = cpu, held
            return

    @property
    def shared(self) -> bool:
        """Whether another device may be measuring on the same processor."""
        return self._held is None

    def release(self) -> None:
        """Leave the processor to other devices."""
        if self._held is not None:
            self._held.close()
            self._held = None


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
