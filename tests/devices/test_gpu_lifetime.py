"""A GPU's worker is gone when its parent is, whatever its kernel does; a GPU that stays occupied helps nobody."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import ended, wait_for

_SCRIPT = """
import json, os, pickle, sys, time
import numpy as np
import host_driver
from winnow.devices.gpu import GpuDevice
code = pickle.loads(sys.stdin.buffer.read())
gpu = GpuDevice("host_driver:HostDriver", name="host", timeout_s=60)
module = gpu.load(code.payload, code.symbol, code.signature)
x, y = gpu.allocate(512), gpu.allocate(512)

def launch(kernel):
    gpu.launch(module, {"x_ptr": x, "y_ptr": y, "shift": kernel, "scale": 1.0}, (1, 1, 1))

def worker():
    launch(host_driver.REPORT)
    return json.loads(y.bytes_.tobytes().rstrip(b"\\0"))["pid"]

def hang(kernel):
    marker = sys.argv[1].encode()
    x.bytes_[: len(marker)] = np.frombuffer(marker, np.uint8)
    launch(kernel)

print(worker(), flush=True)
"""


def start(script: str, code, marker: Path, environment) -> subprocess.Popen[bytes]:
    """A program with a device and a worker, whose process it prints; `hang` creates the file `marker`."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT + script, str(marker)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    process.stdin.write(pickle.dumps(code))
    process.stdin.close()
    return process


@pytest.mark.parametrize("doing", ["time.sleep(60)", "hang(host_driver.HANG)", "hang(host_driver.HANG_LOCKED)"])
def test_the_worker_ends_when_its_parent_is_killed(gpu_code, script_environment, tmp_path, doing):
    """Even while a process that the parent forked holds every descriptor of it open."""
    script = f"""
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
print(child, flush=True)
{doing}
"""
    with start(script, gpu_code, tmp_path / "started", script_environment) as process:
        worker, child = (int(process.stdout.readline()) for _ in range(2))
        if "hang" in doing:
            wait_for(tmp_path / "started")
        assert Path(f"/proc/{worker}").exists()
        process.kill()
        process.wait()
        try:
            assert ended(worker)
        finally:
            os.kill(child, signal.SIGKILL)


def test_ctrl_c_leaves_no_worker_and_no_stale_answer(gpu_code, script_environment, tmp_path):
    """The terminal sends it to the whole group; afterwards the device works on with a new worker."""
    script = """
try:
    hang(host_driver.HANG)
except KeyboardInterrupt:
    print("interrupted")
print(worker())
gpu.close()
"""
    with start(script, gpu_code, tmp_path / "started", script_environment) as process:
        first = int(process.stdout.readline())
        wait_for(tmp_path / "started")
        os.killpg(process.pid, signal.SIGINT)
        said, second = process.stdout.read().split()
        assert said == b"interrupted", process.stderr.read()
        assert ended(first)
        assert ended(int(second))
        assert int(second) != first
        assert process.wait() == 0


def test_a_ctrl_c_that_the_program_handles_itself_does_not_cost_the_worker(gpu_code, script_environment, tmp_path):
    script = "import signal\nos.kill(worker(), signal.SIGINT)\nprint(worker())"
    with start(script, gpu_code, tmp_path / "started", script_environment) as process:
        first, second = process.stdout.read().split()
        assert first == second, process.stderr.read()


def test_a_worker_that_a_short_lived_thread_started_works_on_after_it(gpu_code, script_environment, tmp_path):
    script = """
import threading
gpu.close()
started = []
thread = threading.Thread(target=lambda: started.append(worker()))
thread.start()
thread.join()
print(*started, worker())
"""
    with start(script, gpu_code, tmp_path / "started", script_environment) as process:
        _, first, second = process.stdout.read().split()
        assert first == second, process.stderr.read()


def test_a_program_that_forgets_to_close_leaves_no_worker(gpu_code, script_environment, tmp_path):
    with start("", gpu_code, tmp_path / "started", script_environment) as process:
        worker = int(process.stdout.readline())
        assert process.wait() == 0, process.stderr.read()
        assert ended(worker)
