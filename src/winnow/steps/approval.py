"""What `pack` and `sweep` ask before they start: is this no more than the budget, or else what a person approved?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from winnow.archive.verify import shards_of
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.engine_dir import EngineDir
from winnow.errors import Place, Refused
from winnow.graphs.model import Graph, graph_id
from winnow.graphs.reader import read_corpus
from winnow.selection.budget import meter_selection
from winnow.selection.cells import CellWalk, load_registry
from winnow.selection.expand import expand
from winnow.selection.lock import check_lock, check_unapproved, read_lock, work_of


def corpus_graphs(engine: EngineDir) -> tuple[Graph, ...]:
    """The engine's own graphs; none where it has no corpus."""
    return read_corpus(engine.corpus) if engine.corpus.is_dir() else ()


def graph_ids(graphs: Sequence[Graph]) -> dict[str, str]:
    """Names with digests of the problems."""
    return {graph.name: graph_id(graph) for graph in graphs}


def check_approval(engine: EngineDir, catalogs: Sequence[Catalog], graphs: Sequence[Graph] | None = None) -> None:
    """Refuse to work on a selection that is larger than the budget or other than what was approved.

    `catalogs` are what is really packed or measured, which may be less than the selection; `graphs` are what it is
    measured on, None where nothing is measured.

    Raises:
        Refused: with what changed since the plan was approved, or with what is too much.
    """
    lock = read_lock(engine.lock_file)
    names = [kernel.name for catalog in catalogs for _, kernel in catalog.kernels()]
    if lock is None:
        check_unapproved(engine.lock_file, _excess(engine, len(set(names))))
        return
    approved = lock if graphs is not None else lock.model_copy(update={"graphs": {}})
    check_lock(engine.lock_file, approved, work_of(expand(engine.selection), graph_ids(graphs or ())))
    for name in names:
        if name not in lock.kernels:
            raise Refused(
                f"{name} is not in the approved plan",
                place=Place(str(engine.lock_file)),
                cure="run `winnow generate` and `winnow pack` for the selection that was approved",
            )


def _excess(engine: EngineDir, count: int) -> str | None:
    budget = engine.manifest.manifest.enumerate.budget.kernels
    if budget is not None and count > budget:
        return f"{count:,} kernels, the budget is {budget:,}"
    if not engine.selection_file.is_file():
        return None
    return meter_selection(CellWalk(engine.manifest, load_registry(engine.manifest)), expand(engine.selection)).excess()


def packed_catalogs(archive: Path) -> list[Catalog]:
    """The descriptors of every shard below `archive`, not yet compared with their digests."""
    return [read_catalog(archive / arch) for arch in shards_of(archive)]
