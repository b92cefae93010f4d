"""The installed gates, from the entry-point group `winnow.gates`, in the order of the flow."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points

from winnow.errors import InputError
from winnow.gates.gate import Gate
from winnow.gates.needs import NEEDS


@cache
def all_gates() -> dict[str, Gate]:
    """Every installed gate by name, in the order of the flow.

    Raises:
        InputError: a package offers something else than gates, a gate with an unknown need, or one name twice.
    """
    found: dict[str, Gate] = {}
    offered = [gate for entry in entry_points(group="winnow.gates") for gate in _gates(entry.name, entry.load())]
    for gate in sorted(offered, key=lambda gate: (gate.order, gate.name)):
        if gate.name in found:
            raise InputError(f'two installed gates are called "{gate.name}"', cure="uninstall one of their packages")
        found[gate.name] = gate
    return found


def _gates(entry: str, offered: object) -> tuple[Gate, ...]:
    gates = tuple(offered) if isinstance(offered, Iterable) else (offered,)
    for gate in gates:
        if not isinstance(gate, Gate):
            raise InputError(f'the entry point "{entry}" of winnow.gates offers a {type(gate).__name__}, not a Gate')
        unknown = [need for need in gate.needs if need not in NEEDS]
        if unknown:
            raise InputError(f'gate "{gate.name}" needs "{unknown[0]}"', cure=f"known: {', '.join(NEEDS)}")
    return tuple(gate for gate in gates if isinstance(gate, Gate))
