"""Launches are run apart: one that misbehaves ends alone, none outlives its check, and none leaves its tensors."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from processes import ended, wait_for
from product_kernel import answers_of, beginning_with, hanging, product_of, product_with

from winnow.errors import Incomplete, InputError
from winnow.interpreter import interpreter


def test_products_of_bf16_are_products_of_numbers() -> None:
    """Triton 3.9.0's interpreter multiplies the bit patterns."""
    (answer,) = answers_of(product_of())
    a, b = (np.arange(256, dtype=np.float64).reshape(16, 16) % n - 3 for n in (7, 5))
    assert answer.error == ""
    assert answer.memory["c"].reshape(16, 16).tolist() == (a @ b).tolist()


def test_a_kernel_that_raises_costs_its_own_launch() -> None:
    answers = answers_of(product_with("index[:, None] * SIZE", "nothing * SIZE"), product_of())
    assert "nothing" in answers[0].error
    assert answers[1].error == ""


def test_without_triton_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winnow.interpreter.process.importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError) as error:
        answers_of(product_of())
    assert str(error.value) == (
        "Triton is not installed, so its interpreter cannot run\n  cure: pip install 'winnow-kernels[gpu]'"
    )


def test_a_kernel_that_ends_its_process_costs_its_own_launch() -> None:
    """A wild write must not take the verdicts of other kernels with it."""
    killed, left = beginning_with("__import__('os').abort()"), beginning_with("__import__('os')._exit(7)")
    assert [answer.error for answer in answers_of(killed, left, product_of())] == [
        "the kernel ended its process by SIGABRT",
        "the kernel ended its process with 7",
        "",
    ]


def test_an_interpreter_that_dies_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winnow.interpreter.process.sys.executable", "/bin/false")
    with pytest.raises(Incomplete) as error:
        answers_of(product_of())
    assert str(error.value) == "the interpreter's process ended with 1"


def test_a_launch_without_an_answer_is_no_pass_and_leaves_no_process(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with interpreter(timeout_s=5) as interpret:
        interpret(product_of())
        with pytest.raises(Incomplete) as error:
            interpret(hanging(marker))
    assert str(error.value) == "product: the interpreter gave no answer to a launch in 5 s"
    launch, worker = map(int, marker.read_text().split())
    assert ended(launch)
    assert ended(worker)


def test_a_worker_that_is_killed_takes_its_launch_with_it(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with ThreadPoolExecutor(1) as threads, interpreter() as interpret:
        answer = threads.submit(interpret, hanging(marker))
        wait_for(marker)
        launch, worker = map(int, marker.read_text().split())
        os.kill(worker, signal.SIGKILL)
        assert ended(launch)
        with pytest.raises(Incomplete) as error:
            answer.result()
    assert str(error.value) == "the interpreter's process ended with -9"


def test_a_check_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    """A launch that outlived it would hold gigabytes until somebody looks."""
    marker, given = tmp_path / "marker", tmp_path / "launch"
    given.write_bytes(pickle.dumps(hanging(marker)))
    check = (
        "import pathlib, pickle, sys\n"
        "from winnow.interpreter import interpreter\n"
        "with interpreter() as interpret:\n"
        "    interpret(pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()))\n"
    )
    with subprocess.Popen([sys.executable, "-c", check, str(given)]) as popen:
        try:
            wait_for(marker)
        finally:
            popen.kill()
    launch, worker = map(int, marker.read_text().split())
    assert ended(launch)
    assert ended(worker)
