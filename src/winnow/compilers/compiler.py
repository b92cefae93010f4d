"""What the pack asks of a compiler; one file beside this one fills it in for each language."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from winnow.compilers.code_object import CodeObject


class CompileFailed(Exception):
    """One kernel source did not become an object: it costs that variant, not the pack.

    `reason` is one line; `stderr` is all that the compiler said.
    """

    def __init__(self, reason: str, stderr: str = "") -> None:
        super().__init__(reason, stderr)
        self.reason = reason
        self.stderr = stderr

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Intermediate:
    """How to find sources that become one object before the costly half of a compiler runs."""

    digest: Callable[[Any, str, Any], str]
    """(source, target, toolchain) -> digest of all that the half is given. Equal digests are equal objects, byte for
    byte. Raises CompileFailed."""
    likeness: Callable[[Any], Hashable]
    """Source -> what sources with equal digests share: those that are alike in nothing are not asked for digests."""


@dataclass(frozen=True)
class Recipe:
    """What a kernel source was built from: a builder of a module, and the spec object that it was given."""

    module: str
    builder: str
    spec: Any


@dataclass(frozen=True)
class Compiler:
    """A language's compiler as a table of functions; registered in the entry-point group `winnow.compilers`."""

    language: str
    source_type: type
    """The type of kernel source that it takes."""
    targets: tuple[str, ...]
    """Every target id that it can compile for."""
    find_toolchain: Callable[[], Any]
    """The installed toolchain as a picklable value; raises InputError, with the cure, when there is none."""
    compile: Callable[[Any, str, Any], CodeObject]
    """(source, target, toolchain) -> object; raises CompileFailed."""
    read_back: Callable[[bytes, str], CodeObject]
    """(payload, symbol) -> what the object says of itself; raises InputError."""
    intermediate: Intermediate | None = None
    """None where finding out costs as much as compiling."""
    adopt: Callable[[Any, Recipe], Any] | None = None
    """(what a builder gave, its recipe) -> kernel source, for builders that do not give one; raises InputError."""
