"""What a process may use is what the machine has, less what cgroups withhold: a pack that ignores them is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from winnow.errors import InputError
from winnow.machine import available_bytes, child_environment, usable_processors
from winnow.workers import pool

KIB = 1024


def files(root: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:      4000 kB\n"}
V2 = {**MEMINFO, "proc/self/cgroup": "0::/ci/job\n"}
V1 = {**MEMINFO, "proc/self/cgroup": "4:memory:/ci/job\n2:cpu,cpuacct:/ci/job\n1:name=systemd:/ci\n"}


@pytest.mark.parametrize(
    ("texts", "kib"),
    [
        (MEMINFO, 4000),
        (V2, 4000),
        ({**V2, "sys/fs/cgroup/ci/job/memory.max": "max", "sys/fs/cgroup/ci/job/memory.current": "1"}, 4000),
        ({**V2, "sys/fs/cgroup/ci/memory.max": "2048000", "sys/fs/cgroup/ci/memory.current": "1024000"}, 1000),
        ({**V2, "sys/fs/cgroup/memory.max": "1024", "sys/fs/cgroup/memory.current": "4096"}, 0),
        (
            {
                **V2,
                "sys/fs/cgroup/ci/job/memory.max": "2048000",
                "sys/fs/cgroup/ci/job/memory.current": "2048000",
                "sys/fs/cgroup/ci/job/memory.stat": "anon 5\ninactive_file 512000\nactive_file 7\n",
            },
            500,
        ),
        (
            {
                **V1,
                "sys/fs/cgroup/memory/ci/job/memory.limit_in_bytes": "1024000",
                "sys/fs/cgroup/memory/ci/job/memory.usage_in_bytes": "512000",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "0",
            },
            500,
        ),
    ],
)
def test_memory_is_the_least_of_the_machine_and_of_every_group_above(
    tmp_path: Path, texts: dict[str, str], kib: int
) -> None:
    assert available_bytes(files(tmp_path, texts)) == kib * KIB


def test_a_machine_that_does_not_say_is_an_error(tmp_path: Path) -> None:
    files(tmp_path, {"proc/meminfo": "MemTotal:  100 kB\n"})
    with pytest.raises(InputError) as caught:
        available_bytes(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}/proc/meminfo: no line MemAvailable in it\n  cure: mount /proc of the host"
    )
    assert available_bytes() > 0


@pytest.mark.parametrize(
    ("texts", "processors"),
    [
        ({}, 8),
        ({**V2, "sys/fs/cgroup/ci/cpu.max": "max 100000"}, 8),
        ({**V2, "sys/fs/cgroup/ci/cpu.max": "250000 100000"}, 3),
        ({**V2, "sys/fs/cgroup/ci/cpu.max": "250000 100000", "sys/fs/cgroup/ci/job/cpu.max": "10000 100000"}, 1),
        ({**V2, "sys/fs/cgroup/cpu.max": "900000 100000"}, 8),
        (
            {
                **V1,
                "sys/fs/cgroup/cpu,cpuacct/ci/cpu.cfs_quota_us": "200000",
                "sys/fs/cgroup/cpu,cpuacct/ci/cpu.cfs_period_us": "100000",
                "sys/fs/cgroup/cpu,cpuacct/ci/job/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu,cpuacct/ci/job/cpu.cfs_period_us": "100000",
            },
            2,
        ),
    ],
)
def test_processors_are_those_that_a_quota_pays_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str], processors: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    assert usable_processors(files(tmp_path, texts)) == processors


@pytest.mark.parametrize(("gigabytes", "jobs"), [(64, 8), (2, 3), (0, 1)])
def test_compile_jobs_are_fewer_where_memory_is_short(
    monkeypatch: pytest.MonkeyPatch, gigabytes: int, jobs: int
) -> None:
    monkeypatch.setattr(pool, "usable_processors", lambda: 8)
    monkeypatch.setattr(pool, "available_bytes", lambda: gigabytes << 30)
    assert pool.default_jobs() == jobs


def test_a_child_imports_what_its_parent_could_wherever_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "only_here.py").write_text("VALUE = 7")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "numpy.py").write_text("raise SystemExit('the working directory was imported from')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("library")
    program = "import numpy, only_here, os; print(only_here.VALUE, os.environ['COLOUR'])"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path / "elsewhere",
        env=child_environment(COLOUR="red"),
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("7 red\n", "")
