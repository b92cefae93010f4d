"""Running gates: each gives one verdict, and what stops one of them stops no other."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence

from winnow.errors import Incomplete, InputError, Refused, nearest
from winnow.gates.find import all_gates
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.needs import NEEDS
from winnow.gates.verdict import STATES, Finding, Verdict, incomplete, judged, one_line, unusable
from winnow.wording import amount


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
    try:
        verdict = _answer(gate, inspection)
    except KeyboardInterrupt:
        raise
    except Refused as refusal:
        # What it read refuses as a whole: the verdicts of the other gates are wanted all the same.
        return judged(gate.name, "stopped by its first finding", [Finding(gate.name, refusal.message, refusal.place)])
    except Incomplete as error:
        return incomplete(gate.name, one_line(error))
    except InputError as error:
        return unusable(gate.name, one_line(error))
    except BaseException as error:  # noqa: BLE001 - whatever a gate, a registry or a family raises costs that gate
        return unusable(gate.name, f"the gate failed: {_raised(error)}")
    problem = _not_an_answer(gate, verdict)
    return verdict if problem is None else unusable(gate.name, f"the gate gave {problem}")


def _answer(gate: Gate, inspection: Inspection) -> Verdict:
    try:
        for need in gate.needs:
            missing = NEEDS[need].missing(inspection)
            if missing is not None:
                return incomplete(gate.name, missing)
        return gate.check(inspection)
    finally:
        inspection.close_device()


def _not_an_answer(gate: Gate, verdict: object) -> str | None:
    """Why what a check gave is not this gate's verdict, or None where it is: nothing else may decide an exit code."""
    if not isinstance(verdict, Verdict):
        return f"a value of type {type(verdict).__name__}, not a verdict"
    if verdict.gate != gate.name:
        return f'the verdict of another gate, "{verdict.gate}"'
    if verdict.state not in STATES:
        return f'the unknown state "{verdict.state}" ({nearest(str(verdict.state), STATES)})'
    if not isinstance(verdict.summary, str):
        return f"a summary of type {type(verdict.summary).__name__}, not a text"
    if not isinstance(verdict.findings, tuple) or not all(isinstance(one, Finding) for one in verdict.findings):
        return "findings that are not a tuple of Finding"
    if verdict.state == "passed" and verdict.findings:
        return f"{amount(len(verdict.findings), 'findings')}, and passed"
    return None


def _raised(error: BaseException) -> str:
    """What was raised, and by which line."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - an exception of a plugin may fail to say what it is
        message = ""
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    return f"{said} ({frames[-1].filename}:{frames[-1].lineno})" if frames else said
