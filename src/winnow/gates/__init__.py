"""The gates by name, in the order of the flow; one file each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from winnow.catalog.engine_dir import EngineDir
from winnow.errors import InputError, nearest
from winnow.gates.verdict import Verdict, exit_code

__all__ = ["GATES", "exit_code", "run_gates"]

GATES = (
    "header",
    "registry",
    "budget",
    "vocabulary",
    "coverage",
    "regeneration",
    "archive",
    "serves",
    "reduction",
)
"""Each is the function `check(engine, device)` of the module of its name, loaded when it runs: some need much."""


def run_gates(engine: EngineDir, names: Sequence[str], device: str) -> list[Verdict]:
    """The verdicts of the gates that are named, or of all of them, in the order of the flow.

    Raises:
        InputError: no gate of that name, or an artefact that cannot be read.
    """
    for name in names:
        if name not in GATES:
            raise InputError(f'no gate is called "{name}"', cure=nearest(name, GATES))
    return [_gate(name)(engine, device) for name in GATES if not names or name in names]


def _gate(name: str) -> Callable[[EngineDir, str], Verdict]:
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    check: Callable[[EngineDir, str], Verdict] = module.check
    return check
