"""Why each kernel stays or goes: the graphs that need a kept one, and the kept ones that stand in for a dropped one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from winnow.evidence.evidence import Evidence
from winnow.evidence.rounds import Times
from winnow.reduce.matrix import Matrix
from winnow.reduce.policy import Admission, MustKeep
from winnow.reduce.resampling import percentile_interval, resampled


@dataclass(frozen=True)
class Kept:
    """A kernel that stays. `needed_by` are graphs that would leave their epsilon without it."""

    kernel: str
    roles: tuple[str, ...]
    needed_by: tuple[str, ...]
    fastest_on: tuple[str, ...]


@dataclass(frozen=True)
class Witness:
    """A kept kernel that serves these graphs instead.

    `ratio` is its time over the dropped kernel's on `worst_graph`, the graph where it compares worst, with the 95 %
    interval over all rounds that measured both.
    """

    kernel: str
    graphs: tuple[str, ...]
    worst_graph: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Dropped:
    """A kernel that goes. `lost` are graphs on which no kept kernel comes within epsilon of it."""

    kernel: str
    why: Literal["unfit", "redundant", "unmeasured"]
    text: str
    witnesses: tuple[Witness, ...]
    lost: tuple[str, ...]


def kept_reasons(
    evidence: Evidence, matrix: Matrix, keep: MustKeep, kept: Sequence[int], chosen: Mapping[int, int]
) -> tuple[Kept, ...]:
    """The reasons of every kept kernel, in the catalog's order. `chosen` is the kept kernel that serves each graph."""
    ordered = sorted(kept, key=lambda k: evidence.kernels[k].position)
    already = set(matrix.outside(kept))
    return tuple(
        Kept(
            kernel=evidence.kernels[k].name,
            roles=tuple(_roles(evidence, keep, kept, k)),
            needed_by=_names(evidence, set(matrix.outside([other for other in kept if other != k])) - already),
            fastest_on=_names(evidence, {g for g, server in chosen.items() if server == k}),
        )
        for k in ordered
    )


def _roles(evidence: Evidence, keep: MustKeep, kept: Sequence[int], k: int) -> list[str]:
    roles = []
    if k in keep.unjudged:
        tier = evidence.kernels[k].tier.name.lower()
        roles.append(f"not judged here: its {tier} arch list also serves devices that were not measured")
    if k in keep.defaults:
        roles.append(f"default of {keep.defaults[k] or 'the one cell'}")
    roles += [f"last server of {group.text}" for group in keep.last_servers if group.members & set(kept) == {k}]
    if (evidence.ranks[:, k] < 0).all():
        roles.append("no graph of the corpus asks for it")
    return roles


def drop_reasons(
    evidence: Evidence,
    matrix: Matrix,
    keep: MustKeep,
    admissions: Sequence[Admission],
    kept: Sequence[int],
) -> tuple[Dropped, ...]:
    """The reason of every dropped kernel, in the catalog's order."""
    gone = [k for k in range(len(evidence.kernels)) if k not in set(kept)]
    return tuple(
        _unfit(evidence, keep, k) if k in keep.unfit else _replaced(evidence, matrix, admissions, kept, k)
        for k in sorted(gone, key=lambda k: evidence.kernels[k].position)
    )


def _unfit(evidence: Evidence, keep: MustKeep, k: int) -> Dropped:
    return Dropped(evidence.kernels[k].name, "unfit", f"failed in {keep.unfit[k]}", (), ())


def _replaced(
    evidence: Evidence, matrix: Matrix, admissions: Sequence[Admission], kept: Sequence[int], k: int
) -> Dropped:
    name = evidence.kernels[k].name
    columns = {kernel: i for i, kernel in enumerate(matrix.kernels)}
    costs = matrix.choice.costs
    servers = sorted(kept, key=lambda i: columns[i])
    rows = [row for row in range(len(matrix.graphs)) if np.isfinite(costs[row, columns[k]])]
    if not rows:
        instead = next((i for i in servers if admissions[i].covers(admissions[k])), None)
        text = "no graph of the corpus measures it"
        if instead is not None:
            text += f"; {evidence.kernels[instead].name} admits every problem that it admits"
        return Dropped(name, "unmeasured", text, (), ())
    excess = np.array([[costs[row, columns[i]] - costs[row, columns[k]] for i in servers] for row in rows])
    limits = matrix.choice.limits[rows]
    alone = [i for i in range(len(servers)) if (excess[:, i] <= limits).all()]
    if alone:
        best = min(alone, key=lambda i: float(excess[:, i].max()))
        server_of = [best] * len(rows)
    else:
        server_of = [int(i) for i in excess.argmin(axis=1)]
    witnesses = []
    for i in dict.fromkeys(server_of):
        mine = [r for r, server in enumerate(server_of) if server == i]
        worst = max(mine, key=lambda r: float(excess[r, i]))
        graphs = [matrix.graphs[rows[r]] for r in mine]
        witnesses.append(_witness(evidence, servers[i], k, graphs, matrix.graphs[rows[worst]]))
    lost = {matrix.graphs[row] for r, row in enumerate(rows) if excess[r].min() > limits[r]}
    text = _told(witnesses, len(rows), len(lost))
    return Dropped(name, "redundant", text, tuple(witnesses), _names(evidence, lost))


def _told(witnesses: Sequence[Witness], graphs: int, lost: int) -> str:
    served = f"{graphs} graph{'s' * (graphs != 1)}"
    if lost:
        return f"dropped for the budget: no kept kernel is within epsilon on {lost} of {served}"
    if len(witnesses) == 1:
        one = witnesses[0]
        return f"{one.kernel} serves its {served}, at worst at {one.ratio:.3f}× its time ({one.worst_graph})"
    most = max(witnesses, key=lambda witness: len(witness.graphs))
    return f"{len(witnesses)} kept kernels share its {served}, {most.kernel} takes {len(most.graphs)} of them"


def _witness(evidence: Evidence, server: int, dropped: int, graphs: Sequence[int], worst: int) -> Witness:
    ratio, low, high = ratio_interval(evidence.times[worst, server] - evidence.times[worst, dropped])
    return Witness(
        evidence.kernels[server].name,
        _names(evidence, set(graphs)),
        evidence.graphs[worst].name,
        ratio,
        low,
        high,
    )


def ratio_interval(differences: Times) -> tuple[float, float, float]:
    """(ratio, low, high) of log ratios by round: the median, and its 95 % interval with the rounds resampled."""
    known = differences[~np.isnan(differences)]
    low, high = percentile_interval(np.median(known[resampled(len(known))], axis=1))
    return math.exp(float(np.median(known))), math.exp(low), math.exp(high)


def _names(evidence: Evidence, graphs: set[int]) -> tuple[str, ...]:
    return tuple(evidence.graphs[g].name for g in sorted(graphs, key=lambda g: evidence.graphs[g].name))
