"""The built-in gates, found by being in `checks`."""

from __future__ import annotations

import importlib
import pkgutil

from winnow.gates import checks
from winnow.gates.gate import Gate


def _found() -> tuple[Gate, ...]:
    modules = pkgutil.iter_modules(checks.__path__, f"{checks.__name__}.")
    gates: list[Gate] = [importlib.import_module(module.name).GATE for module in modules]
    return tuple(sorted(gates, key=lambda gate: (gate.order, gate.name)))


GATES = _found()
