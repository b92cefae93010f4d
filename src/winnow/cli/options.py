"""Options that several commands share, so that each is spelled and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ManifestOption = Annotated[Path, typer.Option("-m", "--manifest", help="The engine's manifest.", show_default=True)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
JobsOption = Annotated[
    int | None,
    typer.Option("-j", "--jobs", min=1, help="Parallel compile jobs [default: what processors and memory allow]."),
]
DeviceOption = Annotated[
    str | None,
    typer.Option("--device", help="Device runtime [default: what the archive is for]."),
]
ArchiveOption = Annotated[
    Path | None, typer.Option("--archive", help="Packed tree [default: build/archive beside the manifest].")
]

DEFAULT_MANIFEST = Path("engine.yaml")
