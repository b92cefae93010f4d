"""Where the built-in engines' corpora come from: one file a source, found by being here.

A source has `CORPORA`, which gives for each engine the function that makes its graphs.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping

from winnow.graphs.model import Graph

Corpora = Mapping[str, Callable[[], tuple[Graph, ...]]]


def all_corpora() -> dict[str, Callable[[], tuple[Graph, ...]]]:
    """The function that makes each built-in engine's graphs, by engine, of every source."""
    found: dict[str, Callable[[], tuple[Graph, ...]]] = {}
    for module in pkgutil.iter_modules(__path__):
        found |= importlib.import_module(f"{__name__}.{module.name}").CORPORA
    return found
