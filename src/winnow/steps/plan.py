"""What an engine could have, what its slice is, and the lock that approves it."""

from __future__ import annotations

from winnow.engine_dir import EngineDir
from winnow.selection.budget import within_budget
from winnow.selection.expand import expand
from winnow.selection.lock import Lock, work_of
from winnow.selection.lock import approve as approve_work
from winnow.steps.approval import corpus_graphs, graph_ids
from winnow.steps.estimate import extent


def lock_of(engine: EngineDir, reason: str) -> Lock:
    """The lock that approves the engine's selection as it is, on its corpus.

    Raises:
        InputError: there is no selection yet.
        Refused: the selection is over its budget.
    """
    kernels, graphs = expand(engine.selection), corpus_graphs(engine)
    within_budget(engine.manifest, kernels)
    work = work_of(kernels, graph_ids(graphs))
    much = extent(engine.manifest, kernels, graphs)
    name = engine.manifest.manifest.engine.name
    return approve_work(work, name, reason, objects=much.objects, pairs=much.pairs, estimate=much.estimate)
