"""Variants → the text of a selection, proved by reading it back and expanding it."""

from __future__ import annotations

from collections.abc import Sequence

from winnow.catalog.enumerate import Variant
from winnow.catalog.expand import expand
from winnow.catalog.factorise import selection_record
from winnow.catalog.manifest import Manifest
from winnow.catalog.naming import MAX_NAME_BYTES
from winnow.catalog.selection import parse_selection
from winnow.catalog.write import selection_text
from winnow.errors import InputError


def author(manifest: Manifest, variants: Sequence[Variant]) -> str:
    """The YAML text of the selection that holds exactly these variants.

    Raises:
        InputError: no variants, a name that is too long, or a text that does not expand to the same kernels.
    """
    if not variants:
        raise InputError("nothing was selected: there is no selection to write")
    text = selection_text(selection_record(manifest, variants))
    kernels = expand(parse_selection(text, "selection.yaml"))
    if len(kernels) != len(variants):
        raise InputError(f"the selection expands to {len(kernels)} kernels, {len(variants)} were selected")
    for kernel, variant in zip(kernels, variants, strict=True):
        if dict(kernel.spec) != dict(variant.spec) or dict(kernel.metadata) != dict(variant.metadata):
            raise InputError(f"{kernel.name}: the written form does not give back the spec that the registry built")
        if len(kernel.name.encode()) > MAX_NAME_BYTES:
            raise InputError(f"{kernel.name}: the name is longer than {MAX_NAME_BYTES} bytes")
    return text
