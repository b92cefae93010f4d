"""What packing and sweeping a selection will take, before either is started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from winnow.coverage.asked import asked_graphs
from winnow.coverage.cover import cover
from winnow.families.adapter import Declined
from winnow.families.find import find_family
from winnow.graphs.model import Graph
from winnow.identity import canonical_json
from winnow.selection.cells import CellWalk, load_registry
from winnow.selection.kernel import Kernel
from winnow.selection.lock import Estimate
from winnow.settings.manifest import LoadedManifest

COMPILE_SECONDS = 0.5
"""One object of the built-in families on one core, with gcc -O3."""
OPERATIONS_PER_SECOND = 2e10
"""What a kernel of middling speed does on one core in fp32. A GPU does more: for it the estimate is an upper bound."""
CHECK_SECONDS = 0.02
"""Loading a kernel, poisoning its output and comparing it, apart from its launches."""


@dataclass(frozen=True)
class Extent:
    """How many objects there are to compile, how many pairs of kernel and graph to measure, and what both take."""

    objects: int
    pairs: int
    estimate: Estimate


def extent(loaded: LoadedManifest, kernels: Sequence[Kernel], graphs: Sequence[Graph]) -> Extent:
    """The extent of the work. Sweeps run on one device: the pairs are those of the arch that has the most."""
    objects = {canonical_json([kernel.kernel_source, arch]) for kernel in kernels for arch in kernel.arch}
    served = cover(CellWalk(loaded, load_registry(loaded)), kernels, asked_graphs(loaded, graphs)) if graphs else []
    operations = _operations(loaded, graphs) if graphs else {}
    sweep = loaded.manifest.sweep
    pairs: Counter[str] = Counter()
    seconds: dict[str, float] = dict.fromkeys(loaded.manifest.enumerate.candidates.arch, 0.0)
    for result in served:
        launch = operations.get(result.shape, 0) / OPERATIONS_PER_SECOND
        timed = sweep.rounds * max(sweep.min_seconds, sweep.min_launches * launch)
        pairs[result.arch] += result.kernels
        seconds[result.arch] += result.kernels * (timed + launch + CHECK_SECONDS)
    return Extent(
        objects=len(objects),
        pairs=max(pairs.values(), default=0),
        estimate=Estimate(
            compile_seconds=round(len(objects) * COMPILE_SECONDS, 1),
            sweep_seconds=round(max(seconds.values(), default=0.0), 1),
        ),
    )


def _operations(loaded: LoadedManifest, graphs: Sequence[Graph]) -> dict[str, int]:
    """Floating-point operations of the graphs that the family takes, by name."""
    adapter = find_family(loaded.manifest.family, loaded.place("family"))
    found: dict[str, int] = {}
    for graph in graphs:
        with suppress(Declined):
            found[graph.name] = adapter.problem(graph).flops
    return found
