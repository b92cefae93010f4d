"""Winnow: from a kernel family's tuning registry to the smallest catalog worth shipping.

`winnow.open(directory)` opens an engine directory, `winnow.load(archive)` a packed tree; `docs/api.md` shows both.
Nothing is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from winnow.api import Project, diff, read_graph
    from winnow.api import init_project as init
    from winnow.api import open_project as open  # noqa: A004 - the API's word, as gzip.open's
    from winnow.errors import Incomplete, InputError, Refused, WinnowError
    from winnow.runtime.opened import OpenedEngine
    from winnow.runtime.opened import open_engine as load
    from winnow.spaces import TuningSpace
    from winnow.version import VERSION as __version__

__all__ = [
    "Incomplete",
    "InputError",
    "OpenedEngine",
    "Project",
    "Refused",
    "TuningSpace",
    "WinnowError",
    "__version__",
    "diff",
    "init",
    "load",
    "open",
    "read_graph",
]

_HOMES = {
    "Incomplete": "winnow.errors:Incomplete",
    "InputError": "winnow.errors:InputError",
    "OpenedEngine": "winnow.runtime.opened:OpenedEngine",
    "Project": "winnow.api:Project",
    "Refused": "winnow.errors:Refused",
    "TuningSpace": "winnow.spaces:TuningSpace",
    "WinnowError": "winnow.errors:WinnowError",
    "__version__": "winnow.version:VERSION",
    "diff": "winnow.api:diff",
    "init": "winnow.api:init_project",
    "load": "winnow.runtime.opened:open_engine",
    "open": "winnow.api:open_project",
    "read_graph": "winnow.api:read_graph",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
