"""Running gates: each gives one verdict, and what stops one of them stops no other."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence

from winnow.errors import Incomplete, InputError, Refused, nearest
from winnow.gates.find import all_gates
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.needs import NEEDS
from winnow.gates.verdict import Finding, Verdict, incomplete, judged, unusable


def run_gates(inspection: Inspection, names: Sequence[str] = ()) -> list[Verdict]:
    """The verdicts of the gates that are named, or of all of them, in the order of the flow.

    Raises:
        InputError: no gate of that name, or a manifest that cannot be read: then no gate can be asked anything.
    """
    gates = all_gates()
    for name in names:
        if name not in gates:
            raise InputError(f'no gate is called "{name}"', cure=nearest(name, gates))
    _ = inspection.loaded
    return [_verdict(gate, inspection) for gate in _chosen(gates, names)]


def _chosen(gates: Mapping[str, Gate], names: Sequence[str]) -> list[Gate]:
    return [gate for name, gate in gates.items() if not names or name in names]


def _verdict(gate: Gate, inspection: Inspection) -> Verdict:
    for need in gate.needs:
        missing = NEEDS[need].missing(inspection)
        if missing is not None:
            return incomplete(gate.name, missing)
    try:
        verdict = gate.check(inspection)
    except Refused as refusal:
        # What it read refuses as a whole: the verdicts of the other gates are wanted all the same.
        return judged(gate.name, "stopped by its first finding", [Finding(gate.name, refusal.message, refusal.place)])
    except Incomplete as error:
        return incomplete(gate.name, _line(error))
    except InputError as error:
        return unusable(gate.name, _line(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a gate's own failure, or a registry's, costs that gate
        return unusable(gate.name, f"the gate failed: {_raised(error)}")
    if not isinstance(verdict, Verdict):
        return unusable(gate.name, f"the gate gave a value of type {type(verdict).__name__}, not a verdict")
    return verdict


def _line(error: Exception) -> str:
    return str(error).replace("\n", ";")


def _raised(error: BaseException) -> str:
    """What was raised, and by which line."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    return f"{said} ({frames[-1].filename}:{frames[-1].lineno})" if frames else said
