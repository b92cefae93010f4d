"""Nothing may be left behind: no worker when its parent is gone, no file, no shared-memory segment."""

from __future__ import annotations

import ast
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import ended, wait_for

import winnow

_PID = "*(int *)args->x = getpid();"

_SCRIPT = """
import os, pickle, signal, sys, time
import numpy as np
from winnow.devices.cpu import CpuDevice
modules = pickle.loads(sys.stdin.buffer.read())
device = CpuDevice(timeout_s=60)
pid, endless = (device.load(c.payload, c.symbol, c.signature) for c in modules)
buffer = device.allocate(4)
device.launch(pid, {"x": buffer}, (1, 1, 1))
worker = int(buffer.bytes_.view(np.int32)[0])
"""


def start(script: str, build, environment, marker: Path) -> subprocess.Popen[bytes]:
    """A program with a device, a worker and two kernels: `endless` creates the file `marker` and never returns."""
    endless = f'close(creat("{marker}", 0600)); for (;;) __asm__ volatile("");'
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT + script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
        # A run in the background inherits an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    process.stdin.write(pickle.dumps([build(_PID, "x:ptr"), build(endless, "x:ptr")]))
    process.stdin.close()
    return process


@pytest.mark.parametrize("doing", ["waiting", "in an endless kernel"])
def test_the_worker_ends_when_its_parent_is_killed(build, script_environment, tmp_path, doing):
    """Even while a process that the parent forked holds every descriptor of it open."""
    script = """
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
print(worker, child, flush=True)
"""
    script += 'device.launch(endless, {"x": buffer}, (1, 1, 1))' if "kernel" in doing else "time.sleep(60)"
    with start(script, build, script_environment, tmp_path / "started") as process:
        worker, child = (int(word) for word in process.stdout.readline().split())
        if "kernel" in doing:
            wait_for(tmp_path / "started")
        assert Path(f"/proc/{worker}").exists()
        process.kill()
        process.wait()
        try:
            assert ended(worker)
        finally:
            os.kill(child, signal.SIGKILL)


def test_ctrl_c_leaves_no_worker_and_no_stale_answer(build, script_environment, tmp_path):
    """The terminal sends it to the whole group; afterwards the device works on with a new worker."""
    script = """
print(worker, flush=True)
try:
    device.launch(endless, {"x": buffer}, (1, 1, 1))
except KeyboardInterrupt:
    print("interrupted")
device.launch(pid, {"x": buffer}, (1, 1, 1))
print(int(buffer.bytes_.view(np.int32)[0]))
device.close()
"""
    with start(script, build, script_environment, tmp_path / "started") as process:
        first = int(process.stdout.readline())
        wait_for(tmp_path / "started")
        os.killpg(process.pid, signal.SIGINT)
        said, second = process.stdout.read().split()
        assert said == b"interrupted", process.stderr.read()
        assert ended(first)
        assert ended(int(second))
        assert int(second) != first
        assert process.wait() == 0


def test_a_ctrl_c_that_the_program_handles_itself_does_not_cost_the_worker(device, build):
    compiled = build(_PID, "x:ptr")
    module = device.load(compiled.payload, "k", compiled.signature)
    buffer = device.allocate(4)
    device.launch(module, {"x": buffer}, (1, 1, 1))
    first = int(buffer.bytes_.view(np.int32)[0])
    os.kill(first, signal.SIGINT)
    device.launch(module, {"x": buffer}, (1, 1, 1))
    assert buffer.bytes_.view(np.int32)[0] == first


def test_a_program_that_forgets_to_close_leaves_no_worker(build, script_environment, tmp_path):
    with start("print(worker, flush=True)", build, script_environment, tmp_path / "started") as process:
        worker = int(process.stdout.readline())
        assert process.wait() == 0, process.stderr.read()
        assert ended(worker)


def test_nothing_has_a_name_that_could_stay_behind(device, build, tmp_path, monkeypatch):
    """Memory and objects are anonymous, so that kill -9 at any moment leaves no file anywhere."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    compiled = build(_PID, "x:ptr")
    module = device.load(compiled.payload, "k", compiled.signature)
    buffer = device.allocate(4)
    device.launch(module, {"x": buffer}, (1, 1, 1))
    worker = int(buffer.bytes_.view(np.int32)[0])
    maps = Path(f"/proc/{worker}/maps").read_text()
    assert "/memfd:winnow-buffer (deleted)" in maps
    assert "/memfd:winnow-kernel (deleted)" in maps
    opened = [os.readlink(fd) for fd in Path(f"/proc/{worker}/fd").iterdir()]
    named = [path for path in (*maps.split(), *opened) if path.startswith(("/dev/shm", "/tmp", str(tmp_path)))]
    assert [path for path in named if "winnow" in path] == []
    assert list(tmp_path.iterdir()) == []


def test_the_worker_imports_nothing_but_the_standard_library(build, device):
    """Its start is paid after every crash; NumPy alone would double it."""
    compiled = build(_PID, "x:ptr")
    buffer = device.allocate(4)
    device.launch(device.load(compiled.payload, "k", compiled.signature), {"x": buffer}, (1, 1, 1))
    maps = Path(f"/proc/{int(buffer.bytes_.view(np.int32)[0])}/maps").read_text()
    assert "site-packages" not in maps
    assert "dist-packages" not in maps


def test_the_worker_needs_nothing_but_this_package_and_the_standard_library():
    """Whatever is installed: a package of the user's that breaks must not break measuring."""
    root = str(Path(winnow.__file__).parents[1])
    script = f"""
import sys
sys.path.append({root!r})
import winnow.workers.child, winnow.devices.cpu_worker
print({{name.partition(".")[0] for name in sys.modules}} - sys.stdlib_module_names)
"""
    said = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(said.stdout)) == {"__main__", "winnow"}
