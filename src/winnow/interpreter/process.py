"""Launches handed to a process that interprets them: the flag that makes Triton interpret is a whole process's."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence

from winnow.errors import Incomplete, InputError
from winnow.interpreter.launch import Interpreted, Launch

TIMEOUT_SECONDS = 600.0
_SHOWN_LINES = 12
# One thread: matrices are small, and their sums come out the same everywhere.
_ENVIRONMENT = {"TRITON_INTERPRET": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def interpret(launches: Sequence[Launch], timeout_s: float = TIMEOUT_SECONDS) -> tuple[Interpreted, ...]:
    """What memory holds after each launch, in their order.

    Raises:
        InputError: Triton is not installed.
        Incomplete: the process died or did not answer in time.
    """
    if importlib.util.find_spec("triton") is None:
        raise InputError(
            "Triton is not installed, so its interpreter cannot run", cure="pip install 'winnow-kernels[gpu]'"
        )
    try:
        done = subprocess.run(
            [sys.executable, "-m", "winnow.interpreter.worker"],
            input=pickle.dumps(list(launches)),
            capture_output=True,
            timeout=timeout_s,
            env={**os.environ, **_ENVIRONMENT},
        )
    except subprocess.TimeoutExpired:
        raise Incomplete(f"the interpreter gave no answer for {len(launches)} launches in {timeout_s:g} s") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-_SHOWN_LINES:]
        raise Incomplete("\n    ".join([f"the interpreter's process ended with {done.returncode}", *said]))
    answers: list[Interpreted] = pickle.loads(done.stdout)
    return tuple(answers)
