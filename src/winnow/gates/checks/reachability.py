"""Gate `reachability`: every kernel serves some graph of the corpus on some device; what none can select is dead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from winnow.descriptors.duplicates import devices_of, served
from winnow.descriptors.tree import Catalog
from winnow.families.adapter import Declined, FamilyAdapter, Problem
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.graphs.model import Graph
from winnow.runtime.behaviour import behaviour
from winnow.runtime.load import Engine, PackedKernel
from winnow.wording import amount

_REASONS = 4
"""Reasons that are shown of a kernel that nothing reaches, the most frequent first."""


@dataclass
class _Reach:
    """What became of the kernels by name: those chosen, those that match, and why the others were refused."""

    selected: set[str] = field(default_factory=set)
    applicable: set[str] = field(default_factory=set)
    refusals: dict[str, Counter[str]] = field(default_factory=dict)


def check(inspection: Inspection) -> Verdict:
    """Match and rank as the engine does, from descriptors and corpus alone, on every device that a kernel names."""
    graphs = inspection.graphs
    findings: list[Finding] = []
    counted: Counter[str] = Counter()
    for root, catalog in inspection.catalogs:
        reach = _reach(catalog, str(root / catalog.ued[0]), graphs)
        for _, kernel in catalog.kernels():
            state = _state(reach, kernel.name)
            counted[state] += 1
            if state == "UNREACHABLE":
                findings.append(Finding(kernel.name, f"UNREACHABLE: {_why(reach, kernel.name)}"))
    states = ("SELECTED", "APPLICABLE, NEVER WINS", "UNREACHABLE")
    shown = ", ".join(f"{counted[state]} {state}" for state in states)
    return judged("reachability", f"{amount(len(graphs), 'graphs')}: {shown}", findings)


def _reach(catalog: Catalog, file: str, graphs: tuple[Graph, ...]) -> _Reach:
    behaves = behaviour(catalog.ued[1].x_winnow, file)
    problems = list(_problems(behaves.adapter, graphs))
    reach = _Reach()
    for device in devices_of(catalog) or ("any",):
        engine = Engine(catalog.ued[1].name, device, _unpacked(catalog, device), behaves, catalog.ued[1].ranked)
        for problem in problems:
            ranked = engine.ranked(problem)
            reach.selected |= {kernel.name for kernel in ranked[:1]}
            reach.applicable |= {kernel.name for kernel in ranked}
            for kernel in engine.kernels:
                refusal = engine.refusal(kernel, problem)
                if refusal is not None:
                    reach.refusals.setdefault(kernel.name, Counter())[refusal] += 1
    return reach


def _problems(adapter: FamilyAdapter, graphs: tuple[Graph, ...]) -> Iterator[Problem]:
    for graph in graphs:
        try:
            yield adapter.problem(graph)
        except Declined:
            continue


def _unpacked(catalog: Catalog, device: str) -> tuple[PackedKernel, ...]:
    """The kernels that the device may come to run, without their code, which matching does not need."""
    return tuple(
        PackedKernel(
            name=kernel.name,
            id=kernel.id,
            metadata=catalog.completed_metadata(kernel),
            priority=kernel.priority,
            tier=tier,
            symbol="",
            payload=b"",
            sha256="",
            signature=(),
            order=order,
        )
        for order, (_, kernel, tier) in enumerate(served(catalog, device))
    )


def _state(reach: _Reach, name: str) -> str:
    if name in reach.selected:
        return "SELECTED"
    return "APPLICABLE, NEVER WINS" if name in reach.applicable else "UNREACHABLE"


def _why(reach: _Reach, name: str) -> str:
    if name not in reach.refusals:
        return (
            "no device and no graph of the corpus comes to it: a closer kernel has the same metadata, or none runs it"
        )
    reasons = [f"{reason} ({amount(graphs, 'times')})" for reason, graphs in reach.refusals[name].most_common(_REASONS)]
    return f"no graph of the corpus can select it: {'; '.join(reasons)}"


GATE = Gate("reachability", ("corpus",), check, order=110)
