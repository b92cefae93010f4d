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

from winnow.errors import Incomplete
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
    with pytest.raises(Incomplete) as error:
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
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(Incomplete) as error:
        answers_of(product_of())
    assert str(error.value) == "the interpreter's worker exited with status 1"


def test_a_launch_without_an_answer_is_no_pass_and_leaves_no_process(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with interpreter(timeout_s=5) as interpret:
        interpret(product_of())
        with pytest.raises(Incomplete) as error:
            interpret(hanging(marker))
        assert interpret(product_of()).error == ""
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
    assert str(error.value) == (
        "the interpreter's worker died of SIGKILL (the system ends a process so when memory runs out)"
    )


def test_a_launch_after_the_end_starts_no_process() -> None:
    """A thread of a check that failed meanwhile may still ask."""
    with interpreter() as interpret:
        interpret(product_of())
    with pytest.raises(RuntimeError) as error:
        interpret(product_of())
    assert str(error.value) == "the interpreter has ended"


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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tl.load(b + at)", "tl.load(b + at + 3)", "reads 3 elements beside its tensors, the first 0 bytes past b"),
        ("tl.load(a + at)", "tl.load(a + at - 1)", "reads 1 elements beside its tensors, the first 2 bytes before a"),
        (
            "tl.store(c + at,",
            "tl.store(c + at + 9,",
            "writes 9 elements beside its tensors, the first 0 bytes past c",
        ),
        (
            "    tl.store(",
            "    tl.atomic_add(c + 256 + index, 1.0, mask=index < 2)\n    tl.store(",
            "writes 2 elements beside its tensors, the first 0 bytes past c",
        ),
        (
            "    tl.store(",
            "    tl.atomic_cas(c - 2, 0.0, 1.0)\n    tl.store(",
            "writes 1 elements beside its tensors, the first 8 bytes before c",
        ),
        (
            "    tl.store(",
            "    tl.load(tl.where(index % 2 == 0, a + index, b + 255 + index))\n    tl.store(",
            "reads 8 elements beside its tensors, the first 0 bytes past b",
        ),
    ],
)
def test_an_access_beside_all_tensors_is_refused_whatever_becomes_of_it(old: str, new: str, said: str) -> None:
    (answer,) = answers_of(product_with(old, new))
    assert answer.error == said


def test_what_a_mask_keeps_back_is_no_access() -> None:
    store = "    tl.store(c + at,"
    kept_back = (
        "    tl.load(a + 256 + index, mask=index < 0)\n    tl.atomic_add(c + 256 + index, 1.0, mask=index < 0)\n"
    )
    spread = "    tl.load(tl.where(index % 2 == 0, a + index, b + index))\n"
    (answer,) = answers_of(product_with(store, kept_back + spread + store))
    assert answer.error == ""
