"""Registry → the text of a selection."""

from __future__ import annotations

from winnow.descriptors.duplicates import distinct
from winnow.descriptors.prechecks import draft_of, precheck
from winnow.selection.author import author, kernels_of
from winnow.selection.enumeration import Enumeration
from winnow.settings.manifest import LoadedManifest


def selection_of(loaded: LoadedManifest, enumeration: Enumeration) -> str:
    """The text of the selection that holds what was enumerated.

    Raises:
        InputError, Refused: nothing was selected, or no descriptors can be generated of what was.
    """
    cell_fields = {name for variant in enumeration.variants for name in variant.cell}
    kernels = kernels_of(loaded, enumeration.variants)
    precheck(draft_of(loaded.manifest, kernels))
    distinct(loaded.manifest.kmd_fields, kernels)
    return author(loaded.manifest, kernels, cell_fields, policy_knobs=loaded.manifest.enumerate.accessors)
