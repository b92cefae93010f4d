"""The installed gates, from the entry-point group `winnow.gates`, in the order of the flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

    A name that two entry points offer is a gate that says so.
    """
    found: dict[str, Gate] = {}
    brought: dict[str, str] = {}
    for entry in plugins.installed(GROUP):
        for gate in _offered(entry):
            if gate.name in found:
                found[gate.name] = _stand_in(gate.name, _twice(gate.name, brought[gate.name], entry))
            else:
                found[gate.name], brought[gate.name] = gate, entry
    return {gate.name: gate for gate in sorted(found.values(), key=lambda gate: (gate.order, gate.name))}


def _twice(name: str, first: str, second: str) -> str:
    return f'the entry points "{first}" and "{second}" both bring a gate "{name}": uninstall the package of one'


def _stand_in(name: str, problem: str) -> Gate:
    return Gate(name, (), lambda _: unusable(name, problem))


def _offered(entry: str) -> tuple[Gate, ...]:
    """The gates of an entry point; for one that cannot be loaded a gate in its place that says so."""
    try:
        return gates_of(plugins.load(GROUP, entry))
    except InputError as error:
        return (_stand_in(entry, one_line(error)),)
    except TypeError as error:
        return (_stand_in(entry, one_line(plugins.unusable(GROUP, entry, str(error)))),)


def gates_of(offered: object) -> tuple[Gate, ...]:
    """The gates that an entry point offers. Raises TypeError where it offers something else."""
    if isinstance(offered, Iterator):
        raise TypeError("it offers an iterator, which can be read only once; a tuple would do")
    try:
        gates = tuple(offered) if isinstance(offered, Iterable) else (offered,)
    except (Exception, SystemExit) as error:
        raise TypeError(f"its gates cannot be listed: {type(error).__name__}: {error}") from error
    for gate in gates:
        if not isinstance(gate, Gate):
            raise TypeError(f"it offers a value of type {type(gate).__name__}, not a Gate")
        unknown = [need for need in gate.needs if need not in NEEDS]
        if unknown:
            raise TypeError(f'its gate "{gate.name}" needs "{unknown[0]}"; known: {", ".join(NEEDS)}')
    return tuple(gate for gate in gates if isinstance(gate, Gate))
