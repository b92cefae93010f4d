"""The exact choice: which kernels to keep, as a mixed-integer programme in the radius form, solved by HiGHS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from winnow.evidence.rounds import Times

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
        Infeasible: no set does.
    """
    programme = _Programme(choice, within=True)
    size = len(programme.solve(programme.count))
    return _preferred(choice, programme, size)


def best_under(choice: Choice, size: int) -> tuple[int, ...]:
    """The set of at most `size` kernels that serves every graph, at whatever cost, with the least total cost.

    Sets that are equal to it by `tie` compete by size and by the weights.

    Raises:
        Infeasible: no set does.
    """
    return _preferred(choice, _Programme(choice, within=False), size)


def best_of_sizes(choice: Choice, sizes: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """For each size a set of at most so many kernels that serves every graph with the least total cost.

    Raises:
        Infeasible: no set of one of the sizes does.
    """
    programme = _Programme(choice, within=False)
    for size in sizes:
        yield programme.solve(programme.cost, size=size)


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
    different graphs that are equal share one z. A set and the one that a kernel is added to are linked by three
    variables, so that the programme stays sparse: if z of the smaller one is 1, so is z of the larger or x of the
    kernel.
    """

    def __init__(self, choice: Choice, *, within: bool) -> None:
        self._kernels = choice.costs.shape[1]
        needed: dict[frozenset[int], None] = dict.fromkeys(choice.groups)
        needed.update((frozenset([k]), None) for k in sorted(choice.forced))
        nearest: dict[int, int] = {}
        steps: list[float] = []
        links: dict[tuple[int | None, int, int], None] = {}
        self.base = 0.0
        for costs, limit in zip(choice.costs, choice.limits, strict=True):
            reach = float(limit) if within else np.inf
            order = [int(k) for k in np.argsort(costs, kind="stable") if np.isfinite(costs[k]) and costs[k] <= reach]
            if not order:
                raise Infeasible
            self.base += float(costs[order[0]])
            near = 0
            before: int | None = None
            for k, following in pairwise(order):
                near |= 1 << k
                if near not in nearest:
                    nearest[near] = self._kernels + len(steps)
                    steps.append(0.0)
                here = nearest[near]
                steps[here - self._kernels] += float(costs[following] - costs[k])
                links[before, k, here] = None
                before = here
            needed.setdefault(frozenset(order))
        if frozenset() in needed:
            raise Infeasible
        self._needed = tuple(needed)
        self._variables = self._kernels + len(steps)
        self.count = self.over_kernels(np.ones(self._kernels))
        self.cost = np.concatenate([np.zeros(self._kernels), np.array(steps)])
        rows = [([*sorted(members)], [1.0] * len(members), 1.0) for members in needed]
        rows += [
            ([k, here], [1.0, 1.0], 1.0) if before is None else ([k, here, before], [1.0, 1.0, -1.0], 0.0)
            for before, k, here in links
        ]
        self._needs = [_at_least(rows, self._variables)] if rows else []

    def over_kernels(self, weights: NDArray[np.float64] | Sequence[int]) -> NDArray[np.float64]:
        """An objective that weighs kernels and nothing else."""
        objective = np.zeros(self._variables)
        objective[: self._kernels] = weights
        return objective

    def at_most(self, objective: NDArray[np.float64], limit: float) -> None:
        """From now on `objective` may not exceed `limit`."""
        self._needs.append(LinearConstraint(csr_array(objective[None, :]), -np.inf, limit))

    def solve(self, objective: NDArray[np.float64], *, size: int | None = None) -> tuple[int, ...]:
        """The kernels of an optimal solution of at most `size` kernels, in ascending order.

        Raises:
            Infeasible: there is none.
        """
        integrality = np.zeros(self._variables)
        integrality[: self._kernels] = 1
        limit = [] if size is None else [LinearConstraint(csr_array(self.count[None, :]), -np.inf, size)]
        found = milp(
            objective,
            integrality=integrality,
            bounds=Bounds(0, 1),
            constraints=[*self._needs, *limit],
            options={"mip_rel_gap": 0.0},
        )
        if found.status == 2:
            raise Infeasible
        if found.x is None or found.status != 0:
            raise RuntimeError(f"HiGHS found no optimum: {found.message}")
        kept = frozenset(int(k) for k in np.flatnonzero(found.x[: self._kernels] > 0.5))
        if not all(kept & members for members in self._needed):
            raise RuntimeError("HiGHS returned a set that breaks the constraints")
        return tuple(sorted(kept))


def _at_least(rows: Sequence[tuple[list[int], list[float], float]], variables: int) -> LinearConstraint:
    """For each row of (variables, factors, bound): the sum is at least the bound."""
    at = np.repeat(np.arange(len(rows)), [len(columns) for columns, _, _ in rows])
    columns = np.concatenate([columns for columns, _, _ in rows])
    factors = np.concatenate([factors for _, factors, _ in rows])
    matrix = csr_array((factors, (at, columns)), shape=(len(rows), variables))
    return LinearConstraint(matrix, [bound for _, _, bound in rows], np.inf)
