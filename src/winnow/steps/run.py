"""One graph from a packed tree: which kernel, its time, its verdict, the runner-up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.graphs.reader import read_graph
from winnow.runtime.opened import open_engine
from winnow.runtime.serve import Served


@dataclass(frozen=True)
class GraphRun:
    """A graph that was run: `served` are the chosen kernel and the runner-up, if there is one."""

    graph: str
    engine: str
    arch: str
    kernels: int
    applicable: int
    served: tuple[Served, ...]

    @property
    def chosen(self) -> Served:
        """The kernel that the engine chooses."""
        return self.served[0]

    @property
    def passed(self) -> bool:
        """Whether the chosen kernel's result is right."""
        return self.chosen.correctness.state == "passed"

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        rows = [
            {
                "kernel": one.kernel.name,
                "median_ns": one.median_ns,
                "correctness": one.correctness.state,
                "detail": one.correctness.detail,
            }
            for one in self.served
        ]
        return {
            "graph": self.graph,
            "engine": self.engine,
            "arch": self.arch,
            "kernels": self.kernels,
            "applicable": self.applicable,
            "chosen": rows[0],
            "runner_up": rows[1] if len(rows) > 1 else None,
        }


def run_graph(
    graph_file: Path, archive: Path, *, device: str | None = None, seconds: float = 0.2, timeout: float = 20.0
) -> GraphRun:
    """Verify and time, for `seconds` each, the kernel that the packed engine chooses for a graph, and the runner-up.

    `device` is a device runtime, by default the one that the archive is for; `timeout` is the time limit of one launch
    in seconds.

    Raises:
        InputError: an unreadable graph, no archive, or no device.
        Refused: the family declines the graph, or no kernel serves it.
    """
    graph = read_graph(graph_file)
    with open_engine(archive, device=device, timeout_s=timeout) as opened:
        applicable, served = len(opened.ranked(graph)), opened.compare(graph, 2, seconds=seconds)
        engine = opened.engine
    return GraphRun(graph.name, engine.name, engine.arch, len(engine.kernels), applicable, served)
