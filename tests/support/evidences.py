"""Evidence for tests, made from a table of times instead of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from winnow.evidence.evidence import Evidence, MeasuredGraph, MeasuredKernel
from winnow.evidence.ledger import Ledger, Outcome
from winnow.settings.matching import Comparison
from winnow.settings.reduction import Noise, Performance, Reduction, ReductionBudget
from winnow.targets.tiers import Tier

MATCH = {
    "layout": Comparison.model_validate("equal"),
    "n": Comparison.model_validate({"multiple_of": "step"}),
    "m": Comparison.model_validate({"at_most": "max_m"}),
    "k": Comparison.model_validate("any"),
}


def reduction(*, variants: int | None = None, **noise: float) -> Reduction:
    """One cell a layout; every other field is about performance."""
    return Reduction(
        cell=["layout"],
        performance={"step": Performance(divides="n"), "max_m": Performance(), "vec": Performance()},
        noise=Noise(**noise),
        budget=ReductionBudget(variants=variants),
    )


def metadata(layout: str = "row", step: int = 1, max_m: int = 1000, vec: int = 1) -> dict[str, Any]:
    """A kernel's metadata."""
    return {"layout": layout, "step": step, "max_m": max_m, "vec": vec}


def evidence(
    seconds: Sequence[Sequence[float | None]],
    *,
    rounds: int = 6,
    noise: float = 0.0,
    seed: int = 0,
    kinds: Sequence[Mapping[str, Any]] | None = None,
    tiers: Mapping[int, Tier] | None = None,
    failed: Mapping[tuple[int, int], str] | None = None,
    controls: int = 3,
    prune_factor: float = 1.5,
) -> Evidence:
    """Evidence with `seconds` by (graph, kernel), None where a kernel does not serve a graph.

    `noise` is the standard deviation of the logarithm of a round's median. Kernel 0 is the default that the A/A arms
    repeat; the engine's guess is the order of the columns. `failed` pairs have a reason and no times.
    """
    failed = failed or {}
    base = np.array([[np.nan if t is None else t for t in row] for row in seconds], dtype=float)
    graphs, kernels = base.shape
    random = np.random.Generator(np.random.PCG64(seed))
    times = np.log(base * 1e6)[:, :, None] + noise * random.standard_normal((graphs, kernels, rounds))
    aa = np.log(1e6) + noise * random.standard_normal((graphs, controls, rounds))
    ranks = np.full((graphs, kernels), -1, np.int64)
    outcomes = []
    for g in range(graphs):
        served = [k for k in range(kernels) if not np.isnan(base[g, k]) or (g, k) in failed]
        ranks[g, served] = range(len(served))
        for k in range(kernels):
            if (g, k) in failed:
                times[g, k] = np.nan
                outcomes.append(Outcome(f"g{g}", f"k{k}", "failed", "correctness", failed[g, k]))
            elif np.isnan(base[g, k]):
                outcomes.append(Outcome(f"g{g}", f"k{k}", "declined", "", "not for it"))
            else:
                outcomes.append(Outcome(f"g{g}", f"k{k}", "served"))
    kinds = kinds or [metadata(vec=k) for k in range(kernels)]
    return Evidence(
        engine="test:Table",
        arch="x86-64-v3",
        corpus="table",
        fingerprint={"device": "table"},
        policy={"prune_factor": prune_factor, "controls": controls - 1},
        kernels=tuple(
            MeasuredKernel(f"k{k}", f"{k:064d}", dict(kinds[k]), 0, (tiers or {}).get(k, Tier.EXPLICIT), k)
            for k in range(kernels)
        ),
        graphs=tuple(MeasuredGraph(f"{g:012d}", f"g{g}", {}, 1) for g in range(graphs)),
        times=times,
        controls=aa,
        ranks=ranks,
        ledger=Ledger(tuple(outcomes), graphs, kernels),
    )


def permuted(given: Evidence, graphs: Sequence[int], kernels: Sequence[int]) -> Evidence:
    """The same evidence with its graphs and kernels in another order."""
    return replace(
        given,
        kernels=tuple(given.kernels[k] for k in kernels),
        graphs=tuple(given.graphs[g] for g in graphs),
        times=given.times[np.ix_(graphs, kernels)],
        controls=given.controls[list(graphs)],
        ranks=given.ranks[np.ix_(graphs, kernels)],
    )
