"""Keeping a user's environment out of what is compiled: compilers read their knobs from variables, at any time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Meddling:
    """What changes a compilation: variables by prefix or by name, those that must have a value, those that may stay."""

    prefixes: tuple[str, ...]
    names: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    harmless: tuple[str, ...] = ()


TRITON = Meddling(
    prefixes=("TRITON_", "MLIR_", "LLVM_", "AMDGCN_", "NVPTX_"),
    names=("DISABLE_LLVM_OPT", "DISABLE_PTXAS_OPT"),
    # Line tables hold directory names: the same source elsewhere would become another object.
    settings={"TRITON_DISABLE_LINE_INFO": "1"},
)


@contextlib.contextmanager
def isolated(meddling: Meddling = TRITON) -> Iterator[None]:
    """The environment without anything that changes a compilation; as it was afterwards. Not for threads."""
    taken = {name: os.environ[name] for name in os.environ if _meddles(name, meddling)}
    for name in taken:
        del os.environ[name]
    os.environ.update(meddling.settings)
    try:
        yield
    finally:
        for name in meddling.settings:
            os.environ.pop(name, None)
        os.environ.update(taken)


def _meddles(name: str, meddling: Meddling) -> bool:
    return name not in meddling.harmless and (name.startswith(meddling.prefixes) or name in meddling.names)
