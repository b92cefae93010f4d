"""What gates need beside a manifest, how to see whether it is there, and what to say where it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from winnow.archive.verify import shards_of
from winnow.gates.inspection import Inspection


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


NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        "archive": Need(_archive),
        "corpus": Need(_corpus),
        "reduced": Need(_reduced),
    }
)
"""By the names that `Gate.needs` uses. Manifest, selection and catalog are not here: an engine without is unusable."""
