"""What a sweep has to do: which kernels serve which graph, as which arms, and in which order a round visits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from winnow.devices.device import Grid
from winnow.errors import InputError, Refused
from winnow.families.adapter import Declined, Problem
from winnow.graphs.model import Graph, graph_id
from winnow.identity import canonical_json, sha256_hex
from winnow.runtime.load import Engine, PackedKernel
from winnow.wording import amount

Role = Literal["variant", "control"]


@dataclass(frozen=True, order=True)
class Launch:
    """What a measurement is of, whatever its kernel is called: an object, a symbol in it and a grid."""

    sha256: str
    entry: str
    """`symbol@XxYxZ`"""


@dataclass(frozen=True)
class Applicable:
    """A kernel that serves a graph, and how it is launched there."""

    kernel: PackedKernel
    grid: Grid
    launch: Launch


@dataclass(frozen=True)
class Arm:
    """One thing that each round measures once. A control is the default's launch again, under a name of its own."""

    name: str
    role: Role
    launch: Launch


@dataclass(frozen=True)
class GraphPlan:
    """One graph: its kernels from best guess to worst, and why each of the others (by id) does not serve it."""

    graph: Graph
    id: str
    problem: Problem | None
    declined: str = ""
    ranked: tuple[Applicable, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)

    @property
    def launches(self) -> dict[Launch, Applicable]:
        """What there is to measure, best guess first: kernels with equal objects and grids are measured once."""
        first: dict[Launch, Applicable] = {}
        for applicable in self.ranked:
            first.setdefault(applicable.launch, applicable)
        return first


def arms_of(launches: Sequence[Applicable], controls: int) -> tuple[Arm, ...]:
    """An arm for each launch, the first of which is the default, then the A/A controls."""
    variants = [Arm(applicable.kernel.name, "variant", applicable.launch) for applicable in launches]
    again = [Arm(f"a/a {i + 1}", "control", variants[0].launch) for i in range(controls)] if variants else []
    return (*variants, *again)


@dataclass(frozen=True)
class Plan:
    """Every graph of one corpus with every kernel of one packed engine."""

    engine: Engine
    corpus: str
    graphs: tuple[GraphPlan, ...]

    @property
    def pairs(self) -> int:
        """Pairs of graph and kernel: what the ledger has to add up to."""
        return len(self.graphs) * len(self.engine.kernels)

    @property
    def identity(self) -> str:
        """Digest of what is swept: equal for equal kernels, graphs and launches."""
        kernels = [[k.name, k.sha256, dict(k.metadata), k.priority, int(k.tier)] for k in self.engine.kernels]
        graphs = [[g.id, g.graph.name, [[a.kernel.name, a.launch.entry] for a in g.ranked]] for g in self.graphs]
        return sha256_hex(canonical_json([self.corpus, kernels, graphs]))


def make_plan(engine: Engine, graphs: Sequence[Graph], corpus: str) -> Plan:
    """Ask the engine about every pair of graph and kernel.

    Raises:
        InputError: no graphs, or two that pose the same problem.
        Refused: no kernel serves any graph, so nothing can be measured.
    """
    if not graphs:
        raise InputError(f'corpus "{corpus}" has no graphs', cure="name a directory of hipDNN graph files")
    names: dict[str, str] = {}
    plans = []
    for graph in graphs:
        plan = _graph_plan(engine, graph)
        if plan.id in names:
            raise InputError(
                f'graphs "{names[plan.id]}" and "{graph.name}" pose the same problem ({plan.id})',
                cure="keep one of the two",
            )
        names[plan.id] = graph.name
        plans.append(plan)
    if not any(plan.ranked for plan in plans):
        raise Refused(
            f"none of {amount(len(engine.kernels), 'kernels')} of {engine.name} for {engine.arch} serves any of "
            f"{amount(len(graphs), 'graphs')}: {_first_reason(plans[0])}",
            cure="`winnow coverage` shows what each graph asks for",
        )
    return Plan(engine, corpus, tuple(plans))


def _graph_plan(engine: Engine, graph: Graph) -> GraphPlan:
    try:
        problem = engine.problem(graph)
    except Declined as declined:
        return GraphPlan(graph, graph_id(graph), None, str(declined))
    ranked = tuple(_applicable(engine, kernel, problem) for kernel in engine.ranked(problem))
    serving = {applicable.kernel.id for applicable in ranked}
    refusals = {
        kernel.id: engine.refusal(kernel, problem) or "the engine does not rank it"
        for kernel in engine.kernels
        if kernel.id not in serving
    }
    return GraphPlan(graph, graph_id(graph), problem, "", ranked, refusals)


def _applicable(engine: Engine, kernel: PackedKernel, problem: Problem) -> Applicable:
    grid = engine.grid(kernel, problem)
    return Applicable(kernel, grid, Launch(kernel.sha256, f"{kernel.symbol}@{'x'.join(map(str, grid))}"))


def _first_reason(plan: GraphPlan) -> str:
    return f"{plan.graph.name}: {plan.declined or next(iter(plan.refusals.values()))}"


def shuffled(arms: Sequence[Arm], seed: int, graph: str, round_: int) -> list[Arm]:
    """The order in which a round visits the arms of a graph: random looking, and the same everywhere."""

    def key(arm: Arm) -> str:
        return sha256_hex(
            canonical_json([seed, graph, round_, arm.role, arm.launch.sha256, arm.launch.entry, arm.name])
        )

    return sorted(arms, key=key)
