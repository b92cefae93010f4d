"""`winnow diff`: what differs between two catalogs, selections or packed trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from winnow.cli.console import print_json
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.descriptors.diff import Difference
from winnow.engine_dir import EngineDir
from winnow.steps.diff import diff_sides


def command(
    a: Annotated[Path, typer.Argument(metavar="A", help="A selection, a catalog or a packed tree.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Another one, of the same kind or not.")],
    by: Annotated[
        Literal["name", "metadata"], typer.Option(help="What makes two kernels the same one, before the other does.")
    ] = "name",
    strict_spec: Annotated[
        bool, typer.Option("--strict-spec", help="Compare specs with the defaults of their classes filled in.")
    ] = False,
    subset: Annotated[bool, typer.Option("--subset", help="B may hold more kernels than A.")] = False,
    manifest: ManifestOption = DEFAULT_MANIFEST,
    as_json: JsonOption = False,
) -> int:
    found = diff_sides(a, b, by=by, defaults_of=EngineDir(manifest) if strict_spec else None)
    print_json(found.as_dict()) if as_json else _print(found)
    return 0 if found.is_empty() or (subset and found.is_subset()) else 1


def _print(found: Difference) -> None:
    for name in found.added:
        print(f"+ {name}")
    for name in found.removed:
        print(f"- {name}")
    for change in found.changed:
        print(f"~ {change.name}")
        for field, (ours, theirs) in change.fields.items():
            print(f"    {field}: {json.dumps(ours)} → {json.dumps(theirs)}")
    print(f"{found.equal} equal, {len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed")
    if found.changed:
        print("changed in: " + ", ".join(f"{part} {count}" for part, count in found.changed_in.items()))
