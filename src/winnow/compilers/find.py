"""The compilers that are installed, by the kind of kernel source that they take."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from winnow.compilers.compiler import Compiler
from winnow.errors import InputError, Place, nearest
from winnow.identity import sha256_hex

Compilers = Mapping[str, Compiler]


class _Toolchain(Protocol):
    """What `Compiler.find_toolchain` gives must say which compiler it is."""

    @property
    def kind(self) -> str: ...

    @property
    def version(self) -> str: ...


@dataclass(frozen=True)
class Language:
    """A compiler with its toolchain, once for a whole pack."""

    compiler: Compiler
    toolchain: Any

    @property
    def stated(self) -> dict[str, str]:
        """The toolchain as provenance states it: the same on every machine that has the same compiler."""
        toolchain: _Toolchain = self.toolchain
        return {"kind": toolchain.kind, "version": toolchain.version}

    @cached_property
    def identity(self) -> dict[str, str]:
        """All that decides which bytes a source becomes: the toolchain, and the text of the code that drives it."""
        return {"language": self.compiler.language, "toolchain": repr(self.toolchain), "driver": self._driver_digest()}

    def _driver_digest(self) -> str:
        folder = Path(inspect.getfile(self.compiler.compile)).parent
        texts = [(path.name, sha256_hex(path.read_bytes())) for path in sorted(folder.glob("*.py"))]
        return sha256_hex(repr(texts))


def find_compiler(kind: str, compilers: Compilers | None = None, place: Place | None = None) -> Compiler:
    """The compiler for kernel sources of `kind`: one of `compilers`, or (None given) an installed one.

    Raises:
        InputError: there is none, or the package that offers it cannot be imported.
    """
    if compilers is not None and kind in compilers:
        return compilers[kind]
    installed = {entry.name: entry for entry in entry_points(group="winnow.compilers")} if compilers is None else {}
    if kind not in installed:
        raise InputError(
            f'no compiler for kernel sources of kind "{kind}" is installed',
            place=place,
            cure=nearest(kind, compilers or installed) + "; compilers are entry points of the group winnow.compilers",
        )
    try:
        compiler: Compiler = installed[kind].load()
    except ImportError as error:
        raise InputError(
            f'the compiler for kernel sources of kind "{kind}" cannot be imported: {error}',
            place=place,
            cure=f"install what it needs: pip install 'winnow-kernels[{kind}]'",
        ) from error
    return compiler
