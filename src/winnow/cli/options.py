"""Options that several commands share, so that each is spelled and explained once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from winnow import plugins


def completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What a shell is offered for the beginning of a value; `names` is asked when somebody presses TAB."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def of_group(group: str) -> Callable[[str], list[str]]:
    """`completing` for the names that a group's entry points have."""
    return completing(lambda: plugins.installed(group))


def _arches() -> Iterable[str]:
    from winnow.targets.arches import ARCHES

    return ARCHES


ARCHES = completing(_arches)
"""The architectures that packages know."""


ManifestOption = Annotated[Path, typer.Option("-m", "--manifest", help="The engine's manifest.", show_default=True)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
JobsOption = Annotated[
    int | None,
    typer.Option("-j", "--jobs", min=1, help="Parallel compile jobs [default: what processors and memory allow]."),
]
DeviceOption = Annotated[
    str | None,
    typer.Option(
        "--device", help="Device runtime [default: what the archive is for].", autocompletion=of_group("winnow.devices")
    ),
]
ArchiveOption = Annotated[
    Path | None, typer.Option("--archive", help="Packed tree [default: build/archive beside the manifest].")
]

DEFAULT_MANIFEST = Path("engine.yaml")
