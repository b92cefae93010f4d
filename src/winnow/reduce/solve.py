"""The exact choice: which kernels to keep, as a mixed-integer programme in the radius form, solved by HiGHS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from winnow.reduce.evidence import Times

SLACK = 1e-9
"""How far sums of logarithms may differ and still be the same."""


class Infeasible(Exception):
    """No set of this size does what is asked."""


@dataclass(frozen=True, eq=False)
class Choice:
    """What a set of kernels has to do. Kernels and graphs are rows and columns here, in order of preference.

    `costs` has log(time / best time) by (graph, kernel), infinite where a kernel does not serve a graph; each graph
    has a kernel that serves it. `limits` is the cost up to which a kernel serves a graph as well as the best does.
    `forced` kernels stay, `groups` need a member each, `weights` say how little a kernel is preferred, and sets whose
    mean costs differ by no more than `tie` are equal.
    """

    costs: Times
    limits: Times
    forced: frozenset[int]
    groups: tuple[frozenset[int], ...]
    weights: tuple[Sequence[int], ...]
    tie: float

    def total(self, kept: Iterable[int]) -> float:
        """Sum over the graphs of the least cost that the kept kernels have there: what the geometric mean is of."""
        return float(self.costs[:, list(kept)].min(axis=1, initial=np.inf).sum())


def fewest(choice: Choice) -> tuple[int, ...]:
    """The preferred one of the smallest sets that serve every graph within its limit.

    Among sets of that size the total cost decides, then the weights one after the other.

    Raises:
        Infeasible: there is no such set.
    """
    programme = _Programme(choice, within=True)
    size = len(programme.solve(programme.count))
    return _preferred(choice, programme, size)


def best_under(choice: Choice, size: int, *, preferred: bool = True) -> tuple[int, ...]:
    """The set of at most `size` kernels that serves every graph, at whatever cost, with the least total cost.

    With `preferred`, sets that are equal to it by `tie` compete by size and by the weights.

    Raises:
        Infeasible: there is no such set.
    """
    programme = _Programme(choice, within=False)
    programme.at_most(programme.count, size)
    if not preferred:
        return programme.solve(programme.cost)
    return _preferred(choice, programme, size)


def smallest_size(choice: Choice) -> int:
    """How many kernels it takes to serve every graph at whatever cost.

    Raises:
        Infeasible: not even all kernels do.
    """
    programme = _Programme(choice, within=False)
    return len(programme.solve(programme.count))


def _preferred(choice: Choice, programme: _Programme, size: int) -> tuple[int, ...]:
    programme.at_most(programme.count, size)
    kept = programme.solve(programme.cost)
    programme.at_most(programme.cost, choice.total(kept) - programme.base + choice.tie * len(choice.costs) + SLACK)
    for weights in ([1] * choice.costs.shape[1], *choice.weights):
        objective = programme.over_kernels(weights)
        kept = programme.solve(objective)
        programme.at_most(objective, float(objective[list(kept)].sum()))
    return kept


class _Programme:
    """Variables: x for each kernel (kept or not), then z for each set of kernels that are nearest to some graph.

    z is 1 where none of its set is kept, and then costs the step to the graph's next nearest kernel; the sets of
    different graphs that are equal share one z.
    """

    def __init__(self, choice: Choice, *, within: bool) -> None:
        self._kernels = choice.costs.shape[1]
        steps: dict[frozenset[int], float] = {}
        needed: dict[frozenset[int], None] = dict.fromkeys(choice.groups)
        needed.update((frozenset([k]), None) for k in sorted(choice.forced))
        self.base = 0.0
        for costs, limit in zip(choice.costs, choice.limits, strict=True):
            reach = float(limit) if within else np.inf
            order = [int(k) for k in np.argsort(costs, kind="stable") if np.isfinite(costs[k]) and costs[k] <= reach]
            if not order:
                raise Infeasible
            self.base += float(costs[order[0]])
            for near, (k, following) in enumerate(pairwise(order), start=1):
                step = float(costs[following] - costs[k])
                if step > 0:
                    prefix = frozenset(order[:near])
                    steps[prefix] = steps.get(prefix, 0.0) + step
            needed.setdefault(frozenset(order))
        if frozenset() in needed:
            raise Infeasible
        self._needed = tuple(needed)
        self._variables = self._kernels + len(steps)
        self.count = self.over_kernels(np.ones(self._kernels))
        self.cost = np.concatenate([np.zeros(self._kernels), np.fromiter(steps.values(), float, len(steps))])
        rows: list[tuple[frozenset[int], int | None]] = [(members, None) for members in needed]
        rows += [(prefix, self._kernels + i) for i, prefix in enumerate(steps)]
        self._needs = [_covering(rows, self._variables)] if rows else []

    def over_kernels(self, weights: NDArray[np.float64] | Sequence[int]) -> NDArray[np.float64]:
        """An objective that weighs kernels and nothing else."""
        objective = np.zeros(self._variables)
        objective[: self._kernels] = weights
        return objective

    def at_most(self, objective: NDArray[np.float64], limit: float) -> None:
        """From now on `objective` may not exceed `limit`."""
        self._needs.append(LinearConstraint(csr_array(objective[None, :]), -np.inf, limit))

    def solve(self, objective: NDArray[np.float64]) -> tuple[int, ...]:
        """The kernels of an optimal solution, in ascending order.

        Raises:
            Infeasible: there is none.
        """
        integrality = np.zeros(self._variables)
        integrality[: self._kernels] = 1
        found = milp(
            objective,
            integrality=integrality,
            bounds=Bounds(0, 1),
            constraints=self._needs,
            options={"mip_rel_gap": 0.0},
        )
        if found.status == 2:
            raise Infeasible
        if found.x is None or found.status != 0:
            raise RuntimeError(f"HiGHS gave no optimum: {found.message}")
        kept = frozenset(int(k) for k in np.flatnonzero(found.x[: self._kernels] > 0.5))
        if not all(kept & members for members in self._needed):
            raise RuntimeError("HiGHS gave a set that does not do what was asked")
        return tuple(sorted(kept))


def _covering(rows: Sequence[tuple[frozenset[int], int | None]], variables: int) -> LinearConstraint:
    """For each row: of its kernels and its z together, at least one."""
    columns = [[*sorted(members), *([] if z is None else [z])] for members, z in rows]
    at = np.repeat(np.arange(len(rows)), [len(row) for row in columns])
    matrix = csr_array((np.ones(len(at)), (at, np.concatenate(columns))), shape=(len(rows), variables))
    return LinearConstraint(matrix, 1, np.inf)
