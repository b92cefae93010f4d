"""Two sweeps at once must not time their kernels on one processor, and a dead one must not keep its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from winnow.devices import cpu_identity
from winnow.devices.cpu import CpuDevice
from winnow.devices.cpu_identity import CpuClaim

ALONE = f"winnow-test-{os.getpid()}-"


@pytest.fixture(autouse=True)
def _among_themselves(monkeypatch: pytest.MonkeyPatch):
    """Other tests measure at the same time; these must not see their claims."""
    monkeypatch.setattr(cpu_identity, "_CLAIM_NAME", ALONE)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor is shared by everybody")
def test_two_claims_get_two_processors():
    first, second = CpuClaim(), CpuClaim()
    try:
        assert first.cpu != second.cpu
    finally:
        first.release()
        second.release()


def test_when_all_are_claimed_one_is_shared():
    claims = [CpuClaim() for _ in range(len(os.sched_getaffinity(0)) + 1)]
    try:
        assert claims[-1].shared
        assert claims[-1].cpu in os.sched_getaffinity(0)
    finally:
        for claim in claims:
            claim.release()


def test_a_killed_process_gives_its_processor_back():
    claim_and_die = (
        "import os, signal; from winnow.devices import cpu_identity as i;"
        f"i._CLAIM_NAME = {ALONE!r}; c = i.CpuClaim();"
        "print(c.cpu, c.shared, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    answers = [
        subprocess.run([sys.executable, "-c", claim_and_die], capture_output=True, text=True, check=False).stdout
        for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert answers[0].split()[1] == "False"


def test_a_closed_device_gives_its_processor_back():
    with CpuDevice() as device:
        device.fingerprint()
    claim = CpuClaim()
    try:
        assert not claim.shared
    finally:
        claim.release()
