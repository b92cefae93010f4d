"""What this process has of its machine, and what it hands on to the processes that it starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from winnow.errors import InputError, Place
from winnow.files import read_text

ROOT = Path("/")


def child_environment(**changes: str) -> dict[str, str]:
    """The environment of a Python process (started with `-P`) that imports what this one could, and nothing else."""
    paths = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    return {**os.environ, "PYTHONPATH": paths, **changes}


def usable_processors(root: Path = ROOT) -> int:
    """Processors that this process may run on, and that its quota pays for: at least one."""
    return max(1, min([len(os.sched_getaffinity(0)), *_quotas(root)]))


def available_bytes(root: Path = ROOT) -> int:
    """Memory that can be had without swapping. Asking for more would end some process, perhaps not this one.

    Raises:
        InputError: the kernel does not say.
    """
    return max(0, min([_machine_bytes(root), *_group_bytes(root)]))


def _machine_bytes(root: Path) -> int:
    meminfo = root / "proc" / "meminfo"
    for line in read_text(meminfo).splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    raise InputError("no line MemAvailable in it", place=Place(str(meminfo)), cure="mount /proc of the host")


def _quotas(root: Path) -> Iterator[int]:
    """Processors' worth of time that each group may use, rounded up."""
    for group in _groups(root, "cpu"):
        words = _said(group / "cpu.max") or [*_said(group / "cpu.cfs_quota_us"), *_said(group / "cpu.cfs_period_us")]
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit():
            yield max(1, -(-int(words[0]) // int(words[1])))


def _group_bytes(root: Path) -> Iterator[int]:
    """What is left of each group's memory; its page cache that nobody uses can be had."""
    for group in _groups(root, "memory"):
        limit = _said(group / "memory.max") or _said(group / "memory.limit_in_bytes")
        used = _said(group / "memory.current") or _said(group / "memory.usage_in_bytes")
        if limit and used and limit[0].isdigit():
            stat = _said(group / "memory.stat")
            cached = int(stat[stat.index("inactive_file") + 1]) if "inactive_file" in stat else 0
            yield int(limit[0]) - int(used[0]) + cached


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The directories of this process's group and of those above it, in either version of cgroups.

    In a container the path may be the host's; then the top directory is the container's own.
    """
    mounted = root / "sys" / "fs" / "cgroup"
    try:
        lines = (root / "proc" / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        top = mounted / controllers if controllers else mounted
        own = top / path.lstrip("/")
        yield from (group for group in (own, *own.parents) if group == top or top in group.parents)


def _said(path: Path) -> list[str]:
    """The words of a small file; none where it is not there."""
    try:
        return path.read_text().split()
    except OSError:
        return []
