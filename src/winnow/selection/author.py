"""Variants → the text of a selection, proved by reading it back and expanding it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from winnow.errors import InputError
from winnow.selection.document import parse_selection
from winnow.selection.enumeration import Variant
from winnow.selection.expand import expand
from winnow.selection.factorise import factorise
from winnow.selection.kernel import Kernel
from winnow.selection.naming import MAX_NAME_BYTES, kernel_names
from winnow.selection.write import selection_text
from winnow.settings.header import Header
from winnow.settings.manifest import LoadedManifest


def kernels_of(loaded: LoadedManifest, variants: Sequence[Variant]) -> tuple[Kernel, ...]:
    """Variants as a selection's kernels: named, and in a pack for each candidate and arch.

    Errors about them point at the manifest, which is what they come from: no selection is written yet.
    """
    manifest, place = loaded.manifest, loaded.place("enumerate")
    kernels: list[Kernel] = []
    for (arch, _), group in groupby(variants, key=lambda variant: (variant.arch, variant.candidate)):
        members = list(group)
        source = {"kind": manifest.kernel_source_kind, **members[0].builder.model_dump()}
        names = kernel_names(
            members[0].algorithm, arch, [one.spec for one in members], [one.metadata for one in members]
        )
        kernels += (
            Kernel(
                name=name,
                pack=f"{member.algorithm}_{arch}",
                arch=(arch,),
                source=source,
                spec=member.spec,
                metadata=member.metadata,
                priority=member.priority,
                place=place,
            )
            for name, member in zip(names, members, strict=True)
        )
    return tuple(kernels)


def author(
    header: Header,
    kernels: Sequence[Kernel],
    cell_fields: Collection[str] = (),
    *,
    policy_knobs: Collection[str] = (),
    with_header: bool = True,
) -> str:
    """The YAML text of the selection that holds exactly these kernels.

    `cell_fields` are kept in shapes, `policy_knobs` are said to be the kernel's own business where a spec lacks them.
    Without its header the selection is one to keep beside the manifest, which states it.

    Raises:
        InputError: no kernels, a name that is too long, or a text that does not expand to the same kernels.
    """
    if not kernels:
        raise InputError("nothing was selected: there is no selection to write")
    for kernel in kernels:
        if len(kernel.name.encode()) > MAX_NAME_BYTES:
            raise InputError(f"{kernel.name}: the name is longer than {MAX_NAME_BYTES} bytes")
    shared: dict[str, Any] = {name: getattr(header, name) for name in Header.model_fields}
    own = Header.model_validate(shared)
    record = own.model_dump(exclude_none=True) if with_header else {}
    record["packs"] = factorise(kernels, header.specialization, cell_fields, policy_knobs)
    text = selection_text(record)
    try:
        written = expand(parse_selection(text, "selection.yaml", own))
    except InputError as error:
        message = f"the selection that would be written cannot be read: {error.message}"
        raise InputError(message, place=kernels[0].place, cure=error.cure) from None
    for ours, theirs in zip(kernels, written, strict=True):
        if replace(theirs, place=ours.place) != ours or list(theirs.spec) != list(ours.spec):
            raise InputError(f"{ours.name}: the compact form does not give this kernel back")
    return text
