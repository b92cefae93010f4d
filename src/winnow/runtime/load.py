"""A packed tree as an engine: its kernels with their objects, ready to match graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.archive.verify import Shard, open_shard
from winnow.compilers.code_object import Argument
from winnow.errors import InputError, Place
from winnow.families.adapter import FamilyAdapter, Problem
from winnow.graphs.model import Graph
from winnow.identity import canonical_json
from winnow.runtime.behaviour import Behaviour, behaviour
from winnow.runtime.launcher import Grid
from winnow.targets.tiers import Tier


@dataclass(frozen=True)
class PackedKernel:
    """A kernel that a device can load. `metadata` is complete: declared defaults are filled in."""

    name: str
    id: str
    metadata: Mapping[str, Any]
    priority: int
    tier: Tier
    symbol: str
    payload: bytes
    sha256: str
    signature: tuple[Argument, ...]
    order: int


@dataclass(frozen=True)
class Engine:
    """The kernels of one packed engine that run on one arch."""

    name: str
    arch: str
    kernels: tuple[PackedKernel, ...]
    behaviour: Behaviour
    scored: bool

    @property
    def adapter(self) -> FamilyAdapter:
        """The family's side of the graph contract."""
        return self.behaviour.adapter

    def problem(self, graph: Graph) -> Problem:
        """What the graph asks for. Raises Declined when it is not this family's."""
        return self.adapter.problem(graph)

    def refusal(self, kernel: PackedKernel, problem: Problem) -> str | None:
        """Why a kernel does not serve a problem, or None when it does."""
        return self.behaviour.matcher.refusal(kernel.metadata, problem.fields)

    def ranked(self, problem: Problem) -> tuple[PackedKernel, ...]:
        """Every kernel that serves the problem: score, then tier, then priority, then name decide the order."""

        def key(kernel: PackedKernel) -> tuple[float, int, int, str]:
            score = self.adapter.score(kernel.metadata, problem.fields) if self.scored else 0.0
            return -score, kernel.tier, kernel.priority, kernel.name

        return tuple(sorted((k for k in self.kernels if self.refusal(k, problem) is None), key=key))

    def grid(self, kernel: PackedKernel, problem: Problem) -> Grid:
        """The launch grid of a kernel for a problem."""
        return self.behaviour.launcher.grid(kernel.metadata, problem.fields)


def load_engine(archive: Path, arch: str) -> Engine:
    """Load the shard of `arch` below `archive`; every digest is checked before anything is returned.

    Raises:
        InputError: no shard for this arch, or anything in it that is not what it says it is.
    """
    return engine_of(open_shard(archive, arch))


def engine_of(shard: Shard) -> Engine:
    """The engine that an opened shard holds.

    Raises:
        InputError: it holds no kernels, or its family is not installed.
    """
    behaves = behaviour(shard.engine.extension, str(shard.root / shard.engine.file))
    kernels: list[PackedKernel] = []
    for order, shipped in enumerate(shard.kernels):
        packed = shard.objects[shipped.id]
        kernels.append(
            PackedKernel(
                name=shipped.name,
                id=shipped.id,
                metadata=shipped.completed,
                priority=shipped.priority,
                tier=packed.tier,
                symbol=packed.symbol,
                payload=packed.payload,
                sha256=packed.sha256,
                signature=packed.signature,
                order=order,
            )
        )
    if not kernels:
        raise InputError("the shard holds no kernels", place=Place(str(shard.root)))
    return Engine(shard.engine.name, shard.arch, _best_tier(kernels), behaves, shard.engine.ranked)


def _best_tier(kernels: list[PackedKernel]) -> tuple[PackedKernel, ...]:
    """Of kernels with equal metadata the one in the better tier serves; the others are never reached."""
    best: dict[str, PackedKernel] = {}
    for kernel in kernels:
        key = canonical_json(dict(kernel.metadata))
        if key not in best or kernel.tier < best[key].tier:
            best[key] = kernel
    return tuple(sorted(best.values(), key=lambda kernel: kernel.order))
