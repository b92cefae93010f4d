"""The reduction as sentences about knobs that a person can apply, each checked against the evidence by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from winnow.evidence.evidence import Evidence
from winnow.reduce.matrix import Matrix
from winnow.reduce.policy import MustKeep
from winnow.reduce.score import fastest, score

Condition = tuple[str, Any]

MAX_CONDITIONS = 3
RULE_COST, CONDITION_COST, NAME_COST = 1.0, 0.1, 1.05
"""What a description costs: a rule, each further condition of it, and a kernel that no rule drops and that has to be
named. A rule that drops one kernel pays off only if it has one condition."""


@dataclass(frozen=True)
class KnobRule:
    """Kernels with these metadata values go. `outside` are graphs that leave their epsilon when only they go.

    `geomean` and `worst` are the performance that is retained without them, out of sample.
    """

    when: tuple[Condition, ...]
    drops: tuple[str, ...]
    outside: tuple[str, ...]
    geomean: float
    worst: float
    worst_graph: str
    text: str


@dataclass(frozen=True)
class KnobRules:
    """The shortest description of what goes: rules, and the kernels that have to be named one by one."""

    rules: tuple[KnobRule, ...]
    named: tuple[str, ...]


def matches(when: Collection[Condition], metadata: Mapping[str, Any]) -> bool:
    """Whether a rule drops a kernel with this metadata."""
    return all(metadata[field] == value for field, value in when)


def knob_rules(
    evidence: Evidence, matrix: Matrix, keep: MustKeep, kept: Collection[int], performance: Collection[str]
) -> KnobRules:
    """Rules that drop no kept kernel and together, with the named kernels, exactly the others that are fit.

    Every rule names at least one of the `performance` fields.
    """
    fit = matrix.kernels
    gone = [k for k in fit if k not in set(kept)]
    if not gone:
        return KnobRules((), ())
    candidates = _candidates(evidence, fit, set(kept), performance)
    chosen, named = _shortest(candidates, gone)
    rules = [_checked(evidence, matrix, keep, when, dropped) for when, dropped in chosen]
    rules.sort(key=lambda rule: (-len(rule.drops), rule.text))
    names = sorted(named, key=lambda k: evidence.kernels[k].position)
    return KnobRules(tuple(rules), tuple(evidence.kernels[k].name for k in names))


def _candidates(
    evidence: Evidence, fit: Sequence[int], kept: set[int], performance: Collection[str]
) -> dict[tuple[Condition, ...], frozenset[int]]:
    """Conjunctions that match dropped kernels only, and none that says more than it needs to."""
    atoms: dict[Condition, frozenset[int]] = {}
    fields = sorted({field for k in fit for field in evidence.kernels[k].metadata})
    for field in fields:
        values = {repr(v): v for k in fit if (v := evidence.kernels[k].metadata.get(field)) is not None}
        for _, value in sorted(values.items()):
            having = frozenset(k for k in fit if evidence.kernels[k].metadata.get(field) == value)
            if len(having) < len(fit):
                atoms[field, value] = having
    pure: dict[tuple[Condition, ...], frozenset[int]] = {}
    said: set[frozenset[int]] = set()
    mixed: dict[tuple[Condition, ...], frozenset[int]] = {(): frozenset(fit)}
    for _ in range(MAX_CONDITIONS):
        longer: dict[tuple[Condition, ...], frozenset[int]] = {}
        for when, having in mixed.items():
            for atom, holders in atoms.items():
                if when and atom[0] <= when[-1][0]:
                    continue
                both = having & holders
                if not both - kept or (when and both == having):
                    continue
                if both & kept:
                    longer[(*when, atom)] = both
                elif both not in said and any(field in performance for field, _ in (*when, atom)):
                    said.add(both)
                    pure[(*when, atom)] = both
        mixed = longer
    return pure


def _shortest(
    candidates: Mapping[tuple[Condition, ...], frozenset[int]], gone: Sequence[int]
) -> tuple[list[tuple[tuple[Condition, ...], frozenset[int]]], list[int]]:
    """The cheapest set of rules and single names that covers what goes, found exactly."""
    rules = list(candidates.items())
    place = {k: i for i, k in enumerate(gone)}
    costs = [RULE_COST + CONDITION_COST * (len(when) - 1) for when, _ in rules] + [NAME_COST] * len(gone)
    rows = [place[k] for _, dropped in rules for k in sorted(dropped)] + list(range(len(gone)))
    columns = [j for j, (_, dropped) in enumerate(rules) for _ in dropped] + [len(rules) + i for i in range(len(gone))]
    covers = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(gone), len(costs)))
    found = milp(
        costs,
        integrality=np.ones(len(costs), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(covers, 1, np.inf),
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None or found.status != 0:
        raise RuntimeError(f"HiGHS found no optimum: {found.message}")
    picked = found.x > 0.5
    return [rule for rule, yes in zip(rules, picked, strict=False) if yes], [
        k for k, yes in zip(gone, picked[len(rules) :], strict=True) if yes
    ]


def _checked(
    evidence: Evidence, matrix: Matrix, keep: MustKeep, when: tuple[Condition, ...], dropped: frozenset[int]
) -> KnobRule:
    left = [k for k in matrix.kernels if k not in dropped]
    if keep.forced & dropped or any(group.members <= dropped for group in keep.last_servers):
        raise RuntimeError(f"a rule drops what must be kept: {when}")
    outside = sorted(evidence.graphs[g].name for g in matrix.outside(left))
    scored = score(
        evidence,
        fastest(evidence, left, evidence.when_choosing),
        fastest(evidence, matrix.kernels, evidence.when_choosing),
    )
    names = tuple(evidence.kernels[k].name for k in sorted(dropped, key=lambda k: evidence.kernels[k].position))
    graphs = len(matrix.graphs)
    claim = (
        f"all {graphs} graphs stay within epsilon without it"
        if not outside
        else f"{graphs - len(outside)} of {graphs} graphs stay within epsilon without it, all but {', '.join(outside)}"
    )
    said = " and ".join(f"{field}={value}" for field, value in when)
    count = f"{len(names)} kernel{'s' * (len(names) != 1)}"
    text = f"drop {said} ({count}): {claim}"
    return KnobRule(when, names, tuple(outside), scored.geomean, scored.worst, scored.worst_graph, text)
