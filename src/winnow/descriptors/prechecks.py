"""What is checked of an engine and its kernels before any id is made, in a fixed order.

The schemas have checked before: dialect, engine name, heuristic, workspace policy, behaviour notes; and reading has
checked knobs, the split of the fields between the two lists, metadata types and mandatory fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from winnow.errors import InputError, Place
from winnow.metadata import metadata_problems
from winnow.selection.kernel import Kernel
from winnow.settings.header import Header, header_problem
from winnow.settings.sources import matched_natively, source_forms, source_problem
from winnow.targets.names import arch_problem

_STEM = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Draft:
    """An engine and its kernels by pack, before anything is generated."""

    header: Header
    packs: tuple[tuple[str, tuple[Kernel, ...]], ...]

    @property
    def kernels(self) -> Iterator[Kernel]:
        """Every kernel, in order."""
        return (kernel for _, members in self.packs for kernel in members)


_Problem = tuple[str, Place, str | None]
"""(what is wrong, where, the cure)"""


def draft_of(header: Header, kernels: Sequence[Kernel]) -> Draft:
    """Kernels of one pack that follow one another, together."""
    return Draft(header, tuple((name, tuple(group)) for name, group in groupby(kernels, key=lambda k: k.pack)))


def precheck(draft: Draft) -> None:
    """Run every check in order.

    Raises:
        InputError: the first problem, with the kernel's name and place.
    """
    for check in CHECKS:
        for message, place, cure in check(draft):
            raise InputError(message, place=place, cure=cure)


def _declarations(draft: Draft) -> Iterator[_Problem]:
    problem = header_problem(draft.header)
    if problem is not None:
        yield problem[1], Place(draft.header.engine.name, key=".".join(map(str, problem[0]))), None


def _metadata(draft: Draft) -> Iterator[_Problem]:
    for kernel in draft.kernels:
        for _, problem in metadata_problems(draft.header.kmd_fields, kernel.metadata):
            yield f"{kernel.name}: {problem}", kernel.place, "leave the field out, or give it a real value"


def _arches(draft: Draft) -> Iterator[_Problem]:
    checked: dict[str, str | None] = {}
    for kernel in draft.kernels:
        for name in kernel.arch:
            problem = checked[name] if name in checked else checked.setdefault(name, arch_problem(name))
            if problem is not None:
                yield f"{kernel.name}: {problem}", kernel.place, None


def _kinds(draft: Draft) -> Iterator[_Problem]:
    for kernel in draft.kernels:
        kind = str(kernel.source.get("kind", draft.header.kernel_source_kind))
        form = source_forms().get(kind)
        if form is not None and draft.header.dialect not in form.dialects:
            allowed = ", ".join(
                name for name, other in source_forms().items() if draft.header.dialect in other.dialects
            )
            message = f"{kernel.name}: the dialect {draft.header.dialect} has no kernel source of kind {kind}"
            yield message, kernel.place, f"it has {allowed}"


def _sources(draft: Draft) -> Iterator[_Problem]:
    for kernel in draft.kernels:
        problem = source_problem(kernel.kernel_source)
        if problem is not None:
            yield f"{kernel.name}: {problem}", kernel.place, None
        elif kernel.source["kind"] == "hsaco" and not kernel.arch:
            yield f"{kernel.name}: a code object must say for which arch it is", kernel.place, None


def _claims(draft: Draft) -> Iterator[_Problem]:
    part = draft.header.specialization
    for kernel in draft.kernels:
        if not source_forms()[kernel.source["kind"]].from_spec and part.metadata_fields:
            message = f"{kernel.name}: nothing is compiled from a spec, so metadata_fields must be empty"
            yield message, kernel.place, "list the fields under matcher_only_fields"
        for name in part.matcher_only_fields:
            if name in kernel.spec:
                message = f'{kernel.name}: "{name}" is matcher-only, but the spec bakes it'
                yield message, kernel.place, "list it under metadata_fields"


def _discriminators(draft: Draft) -> Iterator[_Problem]:
    said = draft.header.engine.pack_discriminates
    needed = matched_natively(draft.header.kernel_source_kind) if said is None else said
    seen: dict[str, str] = {}
    for pack, members in draft.packs:
        found, place = members[0].discriminator, members[0].place
        if found is None and needed and len(draft.packs) > 1:
            message = f'{members[0].name}: its pack "{pack}" has no discriminator, and the engine has several packs'
            yield message, place, "name the operation that the pack is for, or say pack_discriminates: false"
        elif found is not None and len(draft.packs) == 1:
            message = f'{members[0].name}: the engine\'s only pack "{pack}" has the discriminator "{found}"'
            yield message, place, "leave it out: there is nothing to tell the pack from"
        elif found is not None and not _STEM.fullmatch(found):
            yield f'the discriminator "{found}" cannot be a part of a file\'s name', place, None
        elif found is not None and found in seen:
            yield f'packs "{seen[found]}" and "{pack}" have the same discriminator "{found}"', place, None
        if found is not None:
            seen[found] = pack


def _stems(draft: Draft) -> Iterator[_Problem]:
    seen: dict[str, str] = {}
    for pack, members in draft.packs:
        place = members[0].place
        if not _STEM.fullmatch(pack):
            yield f"the pack's name \"{pack}\" cannot be a part of a file's name", place, "use A-Z a-z 0-9 _ . -"
        if pack in seen:
            yield f'kernels of the pack "{pack}" do not stand together', place, None
        if pack.casefold() in seen.values():
            yield f'two packs would be written to one file: "{pack}" differs in case only', place, None
        seen[pack] = pack.casefold()


CHECKS: tuple[Callable[[Draft], Iterator[_Problem]], ...] = (
    _declarations,
    _metadata,
    _arches,
    _kinds,
    _sources,
    _claims,
    _discriminators,
    _stems,
)
"""The checks in the order in which they are made."""
