"""The gates by name, in the order of the flow; one file each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from winnow.catalog.engine_dir import EngineDir
from winnow.errors import InputError, nearest
from winnow.gates import archive, header, reduction, regeneration, registry, serves
from winnow.gates.verdict import Verdict, exit_code

__all__ = ["GATES", "exit_code", "run_gates"]

GATES: Mapping[str, Callable[[EngineDir, str], Verdict]] = {
    "header": lambda engine, device: header.check(engine),
    "registry": lambda engine, device: registry.check(engine),
    "regeneration": lambda engine, device: regeneration.check(engine),
    "archive": archive.check,
    "serves": serves.check,
    "reduction": reduction.check,
}


def run_gates(engine: EngineDir, names: Sequence[str], device: str) -> list[Verdict]:
    """The verdicts of the gates that are named, or of all of them, in the order of the flow.

    Raises:
        InputError: no gate of that name, or an artefact that cannot be read.
    """
    for name in names:
        if name not in GATES:
            raise InputError(f'no gate is called "{name}"', cure=nearest(name, GATES))
    return [gate(engine, device) for name, gate in GATES.items() if not names or name in names]
