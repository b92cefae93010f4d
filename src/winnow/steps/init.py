"""A new engine directory from a built-in engine, with the catalog of its authored selection."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from winnow.engine_dir import EngineDir
from winnow.engines import copy_engine
from winnow.steps.generate import write_catalog


@dataclass(frozen=True)
class Initialised:
    """What a new engine directory holds: files copied, and kernels in the catalog (0 where it has no selection)."""

    directory: Path
    engine: str
    files: int
    kernels: int

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "directory": str(self.directory)}


def init_engine(directory: Path, source: str) -> Initialised:
    """Copy the built-in engine `source` into `directory`; generate its catalog where it comes with a selection.

    Raises:
        InputError: no such engine, or the directory holds something else.
    """
    files, kernels = copy_engine(source, directory), 0
    engine = EngineDir(directory / "engine.yaml")
    if engine.selection_file.is_file():
        _, kernels = write_catalog(engine.manifest.manifest, engine.selection, engine.catalog)
    return Initialised(directory, source, files, kernels)
