"""What is known of each architecture, from the tables that packages offer: one row an architecture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from winnow.errors import InputError
from winnow.plugins import OpenTable


@dataclass(frozen=True)
class Mma:
    """One matrix instruction: D (m×n) = A (m×k) · B (k×n) + C, with the element types of A, B and the accumulator."""

    a: str
    b: str
    c: str
    m: int
    n: int
    k: int
    op_id: str


@dataclass(frozen=True)
class ArchFacts:
    """Facts of one architecture. None means that the notion does not exist there.

    `runtime` is the kind of machine code (`amdgpu`, `nvptx`, `cpu`), `device` the device runtime that runs its objects.
    `elf_machine` is the number by which an AMD object names the processor; `base` the member of a generic target whose
    instructions the target is given; `march` what a C compiler calls a CPU.

    `wave_size` in lanes, `lds_bytes` and `vector_bytes` in bytes; registers as one thread can address them (on a CPU
    `vgprs` counts the vector registers).
    """

    name: str
    runtime: str
    device: str
    family: str
    target_family: str
    source: str
    wave_size: int = 1
    lds_bytes: int | None = None
    max_threads_per_block: int = 1
    vgprs: int = 0
    agprs: int = 0
    sgprs: int = 0
    vmcnt_bits: int | None = None
    buffer_load_max_dwords: int | None = None
    vector_bytes: int | None = None
    memory: frozenset[str] = frozenset()
    mma: tuple[Mma, ...] = ()
    elf_machine: int | None = None
    base: str = ""
    march: str = ""


@dataclass(frozen=True)
class TargetTable:
    """Architectures that one package knows, and the members of its generic targets (which are rows as well).

    Registered in the entry-point group `winnow.targets`.
    """

    arches: tuple[ArchFacts, ...]
    generics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _arches_of(table: object) -> Iterator[tuple[str, ArchFacts]]:
    return ((facts.name, facts) for facts in checked_table(table).arches)


def checked_table(table: object) -> TargetTable:
    """The table that an entry point offers. Raises TypeError where it is something else."""
    if not isinstance(table, TargetTable):
        raise TypeError(f"it is of type {type(table).__name__}, not a TargetTable")
    if not isinstance(table.arches, tuple) or not all(isinstance(facts, ArchFacts) for facts in table.arches):
        raise TypeError(f"its arches are {table.arches!r}, not a tuple of ArchFacts")
    if not isinstance(table.generics, Mapping):
        raise TypeError(f"its generics are {table.generics!r}, not members by generic target")
    return table


GROUP = "winnow.targets"

ARCHES: OpenTable[ArchFacts] = OpenTable(GROUP, _arches_of)
"""Facts by target name, generic targets included (theirs are what every member offers)."""


def arch_facts(name: str) -> ArchFacts:
    """The facts of `name`.

    Raises:
        InputError: an unknown architecture, with the nearest known name.
    """
    if name not in ARCHES:
        raise InputError(f'unknown architecture "{name}"', cure=ARCHES.missing(name))
    return ARCHES[name]
