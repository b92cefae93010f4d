"""What a reduction must keep whatever the timings say: defaults, the last servers of a shape, what nobody judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from winnow.errors import InputError
from winnow.evidence.evidence import Evidence, MeasuredKernel
from winnow.settings.matching import Comparison
from winnow.settings.reduction import Reduction
from winnow.targets.tiers import Tier


@dataclass(frozen=True)
class Admission:
    """Which problems a kernel admits: fields that must be equal, multiples that are asked for, and upper bounds."""

    equal: tuple[tuple[str, Any], ...]
    multiple: Mapping[str, int]
    bound: Mapping[str, float]

    def covers(self, other: Admission) -> bool:
        """Whether every problem that `other` admits is admitted here as well."""
        return (
            self.equal == other.equal
            and all(other.multiple.get(field, 1) % step == 0 for field, step in self.multiple.items())
            and all(other.bound.get(field, math.inf) <= limit for field, limit in self.bound.items())
        )


def admission(kernel: MeasuredKernel, match: Mapping[str, Comparison], reduction: Reduction) -> Admission:
    """What `match` and the reduction's `divides` ask of a problem before this kernel serves it.

    Raises:
        InputError: the kernel lacks a field that they name, or a step is not a positive integer.
    """
    equal: list[tuple[str, Any]] = []
    multiple: dict[str, int] = {}
    bound: dict[str, float] = {}
    rules = [(field, rule.operator, rule.against(field)) for field, rule in match.items() if rule.operator != "any"]
    for name, performance in reduction.performance.items():
        if performance.divides is not None:
            rules.append((performance.divides, "multiple_of", name))
    for field, operator, name in rules:
        if name not in kernel.metadata:
            raise InputError(
                f'{kernel.name} was measured without the metadata field "{name}"',
                cure="the catalog changed since: run `winnow pack` and `winnow sweep`",
            )
        value = kernel.metadata[name]
        if operator == "equal":
            equal.append((field, value))
        elif operator == "at_most":
            bound[field] = min(bound.get(field, math.inf), value)
        else:
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{kernel.name}: {name} is {value!r}, but {field} must be a multiple of it")
            multiple[field] = math.lcm(multiple.get(field, 1), value)
    return Admission(tuple(equal), multiple, bound)


@dataclass(frozen=True)
class LastServers:
    """Kernels that admit the same problems, which no other kernel admits all of: one of them has to stay."""

    members: frozenset[int]
    admits: Admission

    @property
    def text(self) -> str:
        """The problems in words."""
        parts = [f"{field}={value}" for field, value in self.admits.equal]
        parts += [f"any {f}" if step == 1 else f"{f} a multiple of {step}" for f, step in self.admits.multiple.items()]
        parts += [f"{field} at most {limit:g}" for field, limit in self.admits.bound.items()]
        return ", ".join(parts) or "every problem"


@dataclass(frozen=True)
class MustKeep:
    """What every reduction of an evidence has to respect. Kernels are known by their index in the evidence.

    `unfit` kernels failed on a graph and can only go. `unjudged` ones stay, because they also serve devices that were
    not measured. `defaults` are the cells' defaults. `uncovered` are problems that only unfit kernels admit.
    """

    unfit: Mapping[int, str]
    unjudged: frozenset[int]
    defaults: Mapping[int, str]
    last_servers: tuple[LastServers, ...]
    uncovered: tuple[str, ...]

    @property
    def forced(self) -> frozenset[int]:
        """Kernels that stay whatever else stays."""
        return self.unjudged | self.defaults.keys()


def must_keep(evidence: Evidence, match: Mapping[str, Comparison], reduction: Reduction) -> MustKeep:
    """Apply the manifest's policy to an evidence."""
    unfit = evidence.failures
    fit = [i for i in range(len(evidence.kernels)) if i not in unfit]
    admissions = [admission(kernel, match, reduction) for kernel in evidence.kernels]
    every = maximal(range(len(evidence.kernels)), admissions)
    left = maximal(fit, admissions)
    uncovered = [group.text for group in every if not any(group.admits == kept.admits for kept in left)]
    measured = {i for i in fit if (evidence.ranks[:, i] >= 0).any()}
    return MustKeep(
        unfit,
        frozenset(i for i in fit if evidence.kernels[i].tier != Tier.EXPLICIT),
        _defaults(evidence.kernels, fit, reduction),
        tuple(LastServers(group.members & measured or group.members, group.admits) for group in left),
        tuple(uncovered),
    )


def maximal(kernels: Sequence[int], admissions: Sequence[Admission]) -> list[LastServers]:
    """Groups of kernels with equal admissions that no other kernel's admission covers, in the order of `kernels`."""
    groups: list[tuple[Admission, list[int]]] = []
    for i in kernels:
        for found, members in groups:
            if found == admissions[i]:
                members.append(i)
                break
        else:
            groups.append((admissions[i], [i]))
    return [
        LastServers(frozenset(members), mine)
        for mine, members in groups
        if not any(other is not mine and other.covers(mine) for other, _ in groups)
    ]


def _defaults(kernels: Sequence[MeasuredKernel], fit: Sequence[int], reduction: Reduction) -> dict[int, str]:
    """The most preferred fit kernel of each cell, with the cell in words."""
    first: dict[tuple[str, ...], int] = {}
    for i in sorted(fit, key=lambda i: preference(kernels[i])):
        cell = tuple(f"{name}={kernels[i].metadata[name]}" for name in reduction.cell)
        first.setdefault(cell, i)
    return {i: ", ".join(cell) for cell, i in first.items()}


def preference(kernel: MeasuredKernel) -> tuple[int, int, int]:
    """Sort key: the closer tier first, then the lower priority number, then the catalog's order."""
    return kernel.tier, kernel.priority, kernel.position
