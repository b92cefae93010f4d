"""What gates need beyond a manifest, how to see whether it is there, and what to say where it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from winnow.archive.verify import shards_of
from winnow.devices.find import find_runtime
from winnow.errors import InputError
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import one_line


@dataclass(frozen=True)
class Need:
    """`missing` gives the sentence, with the cure, for an inspection that lacks it; None where it is there."""

    missing: Callable[[Inspection], str | None]


def _archive(inspection: Inspection) -> str | None:
    root = inspection.engine.archive
    return None if shards_of(root) else f"no archive at {root}: run `winnow pack` first"


def _corpus(inspection: Inspection) -> str | None:
    root = inspection.engine.corpus
    return None if inspection.has_corpus else f"no graph at {root}: nothing says what users run"


def _reduced(inspection: Inspection) -> str | None:
    file = inspection.engine.reduced / "selection.yaml"
    return None if file.is_file() else f"no reduced selection at {file}: run `winnow reduce` first"


def _evidence(inspection: Inspection) -> str | None:
    file = inspection.engine.database
    return None if file.is_file() else f"no measurements at {file}: run `winnow sweep` first"


def _device(inspection: Inspection) -> str | None:
    find_runtime(inspection.runtime)  # A name that nobody offers is unusable; a device that is not here is missing.
    try:
        inspection.open_device()
    except InputError as error:
        return one_line(error)
    return None


NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        "archive": Need(_archive),
        "corpus": Need(_corpus),
        "reduced": Need(_reduced),
        "evidence": Need(_evidence),
        "device": Need(_device),
    }
)
"""By the names that `Gate.needs` uses. An engine without a manifest, a selection or a catalog is unusable, so those are
not here."""
