"""What a selection serves of graphs and shapes, and what only its registry would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.coverage.asked import asked_graphs, asked_shapes
from winnow.coverage.cover import Covered, Outcome, counts, cover, vacuous
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.gates.inspection import Inspection
from winnow.graphs.reader import read_corpus
from winnow.graphs.shapes import read_shapes
from winnow.selection.cells import CellWalk, load_registry
from winnow.selection.expand import expand


@dataclass(frozen=True)
class CoverageResult:
    """What became of each problem on each arch."""

    results: tuple[Covered, ...]

    @property
    def counts(self) -> dict[Outcome, int]:
        """Results by outcome."""
        return counts(self.results)

    @property
    def vacuous(self) -> bool:
        """Whether nothing was a gap only because the registry serves nothing of it."""
        return vacuous(self.results)

    @property
    def refused(self) -> bool:
        """Whether there is a gap, or nothing was served at all."""
        return self.vacuous or self.counts["GAP"] > 0

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"counts": self.counts, "results": [result.as_dict() for result in self.results]}


def cover_engine(
    engine: EngineDir,
    *,
    shapes: Sequence[Path] = (),
    corpora: Sequence[Path] = (),
    arches: Sequence[str] = (),
) -> CoverageResult:
    """Ask registry and selection about files of shapes and directories of graphs; none named: the engine's own.

    Raises:
        InputError: nothing to ask about, an unreadable file, or a candidate that raises.
    """
    walk = CellWalk(engine.manifest, load_registry(engine.manifest))
    problems = [
        *(asked for file in shapes for asked in asked_shapes(walk, read_shapes(file))),
        *(asked for path in corpora for asked in asked_graphs(engine.manifest, read_corpus(path))),
    ]
    results = cover(walk, expand(engine.selection), problems or Inspection(engine).asked, arches)
    if not results:
        raise InputError("there is nothing to cover", cure="name a file with --shapes or a directory with --corpus")
    return CoverageResult(tuple(results))
