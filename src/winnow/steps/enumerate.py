"""Registry → selection: the walk, and the file that holds what it selected."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from winnow.descriptors.duplicates import distinct
from winnow.descriptors.prechecks import draft_of, precheck
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.files import read_text
from winnow.selection.author import author, kernels_of
from winnow.selection.comments import keep_comments
from winnow.selection.document import states_header, write_selection
from winnow.selection.enumerate import walk_registry
from winnow.selection.enumeration import Enumeration
from winnow.settings.manifest import LoadedManifest
from winnow.strict.yaml_reader import parse_yaml

Space = Literal["slice", "production", "full"]


@dataclass(frozen=True)
class Enumerated:
    """A walk and the selection that it was written to.

    `selection` is None where the budget refused: nothing was written then. `lost_comments` are a person's comments
    whose item is gone.
    """

    enumeration: Enumeration
    selection: Path | None
    lost_comments: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"selection": None if self.selection is None else str(self.selection), **ledger_of(self.enumeration)}


def enumerate_engine(engine: EngineDir, *, space: Space | None = None) -> Enumeration:
    """Ask the registry as the manifest says; `space` overrides the manifest's. Writes nothing.

    Raises:
        InputError: as `walk_registry` does, or no space of that name.
    """
    if space is not None and space not in get_args(Space):
        raise InputError(f"no space {space!r}", cure=f"known: {', '.join(get_args(Space))}")
    return walk_registry(engine.manifest, space=space)


def write_enumeration(engine: EngineDir, enumeration: Enumeration, *, output: Path | None = None) -> Enumerated:
    """Write what was enumerated to `output`, or beside the manifest.

    Of a selection that is there its comments stay, and its form: one that leaves its header to the manifest still does.

    Raises:
        InputError, Refused: nothing was selected, or no descriptors can be generated of what was.
    """
    if enumeration.over is not None:
        return Enumerated(enumeration, None)
    target = output or engine.selection_file
    there = read_text(target) if target.is_file() else None
    beside = there is not None and not states_header(parse_yaml(there, str(target)))
    text = selection_of(engine.manifest, enumeration, with_header=not beside)
    lost: list[str] = []
    if there is not None:
        text, lost = keep_comments(there, text, str(target))
    write_selection(target, text)
    return Enumerated(enumeration, target, tuple(lost))


def selection_of(loaded: LoadedManifest, enumeration: Enumeration, *, with_header: bool = True) -> str:
    """The text of the selection that holds what was enumerated.

    Raises:
        InputError, Refused: nothing was selected, or no descriptors can be generated of what was.
    """
    cell_fields = {name for variant in enumeration.variants for name in variant.cell}
    kernels = kernels_of(loaded, enumeration.variants)
    precheck(draft_of(loaded.manifest, kernels))
    distinct(loaded.manifest.kmd_fields, kernels)
    policy = loaded.manifest.enumerate.accessors
    return author(loaded.manifest, kernels, cell_fields, policy_knobs=policy, with_header=with_header)


def ledger_of(enumeration: Enumeration) -> dict[str, Any]:
    """Counts and ledger of an enumeration as plain data."""
    return {
        "counts": enumeration.counts(),
        "over_budget": None if enumeration.over is None else enumeration.over.message,
        "allowed": [{**one.allowance.model_dump(), "kernels": one.kernels} for one in enumeration.allowed],
        "ledger": [asdict(entry) for entry in enumeration.ledger],
    }
