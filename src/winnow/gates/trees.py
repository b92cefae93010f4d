"""Which catalogs of an engine the gates look at: the committed one, and the reduced one where there is one."""

from __future__ import annotations

from pathlib import Path

from winnow.descriptors.tree import Catalog, read_catalog
from winnow.engine_dir import EngineDir


def catalog_roots(engine: EngineDir) -> tuple[Path, ...]:
    """The directories; the committed catalog's comes first, whether or not it is there."""
    reduced = engine.reduced / "catalog"
    return (engine.catalog, *([reduced] if reduced.is_dir() else []))


def catalogs(engine: EngineDir) -> tuple[tuple[Path, Catalog], ...]:
    """The catalogs with their directories.

    Raises:
        InputError: one of them is missing, or is not one whole engine (gate `structure` says what is wrong).
    """
    return tuple((root, read_catalog(root)) for root in catalog_roots(engine))
