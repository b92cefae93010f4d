"""`winnow enumerate`: registry → selection, with a ledger of everything that was asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from winnow.catalog.author import author, kernels_of
from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.enumerate import Enumeration, enumerate_variants
from winnow.catalog.manifest import Manifest
from winnow.cli.console import print_json, table
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.files import write_atomic


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    space: Annotated[
        Literal["slice", "production", "full"] | None, typer.Option(help="Which points [default: the manifest's].")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Where the selection goes [default: beside the manifest].")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    enumeration = enumerate_variants(engine.manifest, space=space)
    target = output or engine.selection_file
    write_atomic(target, selection_of(engine.manifest.manifest, enumeration))
    if as_json:
        print_json({"selection": str(target), "counts": enumeration.counts(), "ledger": ledger(enumeration)})
        return 0
    counts = enumeration.counts()
    print(f"{target}: {counts['selected']} kernels of {sum(counts.values())} points")
    print(table((reason, count) for reason, count in refusals(enumeration)))
    return 0


def selection_of(manifest: Manifest, enumeration: Enumeration) -> str:
    """The text of the selection that holds what was enumerated."""
    cell_fields = {name for variant in enumeration.variants for name in variant.cell}
    return author(manifest, kernels_of(manifest, enumeration.variants), cell_fields)


def ledger(enumeration: Enumeration) -> list[dict[str, object]]:
    """The ledger as plain data."""
    return [asdict(entry) for entry in enumeration.ledger]


def refusals(enumeration: Enumeration) -> list[tuple[str, int]]:
    """Reasons with how often each occurred, the most frequent first."""
    counted = Counter(f"{entry.outcome}: {entry.reason}" for entry in enumeration.ledger if entry.outcome != "selected")
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))
