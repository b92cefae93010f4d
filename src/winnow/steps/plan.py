"""What an engine could have, what its slice of that is, and the lock that approves it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Refused
from winnow.selection.budget import within_budget
from winnow.selection.enumerate import walk_registry
from winnow.selection.enumeration import Enumeration
from winnow.selection.expand import expand
from winnow.selection.lock import Lock, work_of, write_lock
from winnow.selection.lock import approve as approve_work
from winnow.selection.plan import SpacePlan, plan_space
from winnow.steps.approval import corpus_graphs, graph_ids
from winnow.steps.enumerate import ledger_of
from winnow.steps.estimate import extent


@dataclass(frozen=True)
class Planned:
    """Counts of the whole space, and what the manifest's `space` selects of it. `lock` is what approval would write."""

    space: SpacePlan
    enumeration: Enumeration
    lock: Lock | None
    lock_file: Path

    @property
    def total(self) -> int:
        """Legal variants over all arches, candidates and cells."""
        return self.space.total

    @property
    def refusal(self) -> Refused | None:
        """The budget's refusal of what the manifest selects; None where everything is within it."""
        return self.enumeration.over

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        told = {**_space(self.space), **ledger_of(self.enumeration)}
        return told if self.lock is None else {**told, "lock": str(self.lock_file)}


def plan_engine(engine: EngineDir, *, approve: bool = False, reason: str | None = None) -> Planned:
    """Count the space and walk the slice. With `approve`, make (but do not write) the lock, for which there must be a
    reason, unless the budget refuses.

    Raises:
        InputError: approval without a reason or the other way round, or no selection to approve.
        Refused: the selection to approve is over its budget.
    """
    if approve != bool(reason and reason.strip()):
        raise InputError("--approve and --reason go together", cure='winnow plan --approve --reason "why"')
    space = plan_space(engine.manifest)
    enumeration = walk_registry(engine.manifest)
    lock = lock_of(engine, str(reason)) if approve and enumeration.over is None else None
    return Planned(space, enumeration, lock, engine.lock_file)


def approve_plan(planned: Planned) -> None:
    """Write the lock: from now on `pack` and `sweep` do this, and nothing else."""
    if planned.lock is not None:
        write_lock(planned.lock_file, planned.lock)


def lock_of(engine: EngineDir, reason: str) -> Lock:
    """The lock that approves the engine's selection as it is, on its corpus.

    Raises:
        InputError: nothing is selected yet.
        Refused: the selection is over its budget.
    """
    kernels, graphs = expand(engine.selection), corpus_graphs(engine)
    within_budget(engine.manifest, kernels)
    work = work_of(kernels, graph_ids(graphs))
    much = extent(engine.manifest, kernels, graphs)
    name = engine.manifest.manifest.engine.name
    return approve_work(work, name, reason, objects=much.objects, pairs=much.pairs, estimate=much.estimate)


def _space(plan: SpacePlan) -> dict[str, Any]:
    return {
        "total": plan.total,
        "cells": [
            {
                "arch": cell.arch,
                "candidate": cell.candidate,
                "cell": dict(cell.cell),
                "count": cell.count,
                "refusal": cell.refusal or None,
                "marginals": {k: [[str(v), n] for v, n in counts.items()] for k, counts in cell.marginals.items()},
            }
            for cell in plan.cells
        ],
        "values": [
            {"candidate": candidate, "knob": knob, "value": str(value), "variants": count}
            for (candidate, knob, value), count in plan.values().items()
        ],
    }
