"""Watching other processes from a test."""

from __future__ import annotations

import time
from pathlib import Path


def wait_for(marker: Path) -> None:
    """Until the file is there."""
    for _ in range(3000):
        if marker.exists():
            return
        time.sleep(0.01)
    raise TimeoutError("the kernel did not start")


def ended(pid: int) -> bool:
    """Whether the process is gone, or only waits for its parent to notice; gives it five seconds."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False
