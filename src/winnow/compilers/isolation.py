"""Keeping a user's environment out of what Triton compiles: its knobs are environment variables, read at any time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

_PREFIXES = ("TRITON_", "MLIR_", "LLVM_", "AMDGCN_", "NVPTX_")
_NAMES = ("DISABLE_LLVM_OPT", "DISABLE_PTXAS_OPT")

# Line tables hold directory names: the same source elsewhere would become another object.
_SETTINGS = {"TRITON_DISABLE_LINE_INFO": "1"}


@contextlib.contextmanager
def isolated() -> Iterator[None]:
    """The environment without anything that changes a compilation; as it was afterwards. Not for threads."""
    meddling = {name: os.environ[name] for name in os.environ if name.startswith(_PREFIXES) or name in _NAMES}
    for name in meddling:
        del os.environ[name]
    os.environ.update(_SETTINGS)
    try:
        yield
    finally:
        for name in _SETTINGS:
            os.environ.pop(name, None)
        os.environ.update(meddling)
