"""Jobs that are no longer wanted end at once, whatever their workers are doing."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from processes import ended, wait_for

from winnow.workers.pool import run_jobs
from winnow.workers.process import Program

SLOW_TO_START = """
import os, sys, time
def start(marker):
    with open(marker + ".unfinished", "w") as file:
        print(os.getpid(), file=file)
    os.rename(marker + ".unfinished", marker)
    time.sleep(600)
"""


def test_an_interrupt_ends_workers_that_are_still_starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_start.py").write_text(SLOW_TO_START)
    monkeypatch.syspath_prepend(tmp_path)
    marker = tmp_path / "marker"

    def interrupt() -> None:
        wait_for(marker)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            run_jobs(Program("slow_to_start", (str(marker),)), ["job"], workers=1, done=lambda *_: None)
    finally:
        signal.signal(signal.SIGINT, before)
    thread.join()
    assert ended(int(marker.read_text()))
