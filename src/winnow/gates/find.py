"""The installed gates, from the entry-point group `winnow.gates`, in the order of the flow."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from winnow import plugins
from winnow.errors import InputError
from winnow.gates.gate import Gate
from winnow.gates.needs import NEEDS
from winnow.gates.verdict import one_line, unusable

GROUP = "winnow.gates"


@cache
def all_gates() -> dict[str, Gate]:
    """Every installed gate by name, in the order of the flow.

    Raises:
        InputError: one name twice.
    """
    found: dict[str, Gate] = {}
    offered = [gate for name in plugins.installed(GROUP) for gate in _offered(name)]
    for gate in sorted(offered, key=lambda gate: (gate.order, gate.name)):
        if gate.name in found:
            raise InputError(f'two installed gates are called "{gate.name}"', cure="uninstall one of their packages")
        found[gate.name] = gate
    return found


def _offered(entry: str) -> tuple[Gate, ...]:
    """The gates of an entry point; for one that cannot be loaded a gate in its place that says so."""
    try:
        return _gates(entry, plugins.load(GROUP, entry))
    except InputError as error:
        message = one_line(error)
        return (Gate(entry, (), lambda _: unusable(entry, message)),)


def _gates(entry: str, offered: object) -> tuple[Gate, ...]:
    try:
        gates = tuple(offered) if isinstance(offered, Iterable) else (offered,)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin's iterable is a plugin's code
        problem = f"{type(error).__name__}: {error}"
        raise InputError(f'the gates of the entry point "{entry}" cannot be listed: {problem}') from None
    for gate in gates:
        if not isinstance(gate, Gate):
            raise InputError(
                f'the entry point "{entry}" of winnow.gates offers a value of type {type(gate).__name__}, not a Gate'
            )
        unknown = [need for need in gate.needs if need not in NEEDS]
        if unknown:
            raise InputError(f'gate "{gate.name}" needs "{unknown[0]}"', cure=f"known: {', '.join(NEEDS)}")
    return tuple(gate for gate in gates if isinstance(gate, Gate))
