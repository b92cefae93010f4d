"""The compilers that are installed, by the kind of kernel source that they take."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from winnow import plugins
from winnow.compilers.compiler import Compiler
from winnow.errors import InputError, Place, nearest
from winnow.identity import sha256_hex

GROUP = "winnow.compilers"
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
    known = plugins.installed(GROUP) if compilers is None else tuple(compilers)
    if kind not in known:
        raise InputError(
            f'no compiler for kernel sources of kind "{kind}" is installed',
            place=place,
            cure=f"{nearest(kind, known)}; compilers are entry points of the group {GROUP}",
        )
    compiler: Compiler = plugins.load(GROUP, kind, Compiler, place)
    return compiler
