"""What users embed: load a packed tree, match a problem, rank kernels, launch them, judge the result.

Imports `archive`, `families`, `devices`, `graphs`, `targets`, `compilers` for code objects, and `spaces` for
expressions. Never knows a selection, a registry or a manifest. A name of `__all__` is imported from its file when it is
first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from winnow.runtime.behaviour import Behaviour
    from winnow.runtime.correctness import Correctness, judge
    from winnow.runtime.execution import Execution
    from winnow.runtime.launcher import Launcher, launcher_of
    from winnow.runtime.load import Engine, PackedKernel, load_engine
    from winnow.runtime.matching import Matcher
    from winnow.runtime.serve import Served, applicable, run_kernel

__all__ = [
    "Behaviour",
    "Correctness",
    "Engine",
    "Execution",
    "Launcher",
    "Matcher",
    "PackedKernel",
    "Served",
    "applicable",
    "judge",
    "launcher_of",
    "load_engine",
    "run_kernel",
]

_FILES = {
    "Behaviour": "behaviour",
    "Correctness": "correctness",
    "Engine": "load",
    "Execution": "execution",
    "Launcher": "launcher",
    "Matcher": "matching",
    "PackedKernel": "load",
    "Served": "serve",
    "applicable": "serve",
    "judge": "correctness",
    "launcher_of": "launcher",
    "load_engine": "load",
    "run_kernel": "serve",
}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_FILES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
