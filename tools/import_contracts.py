"""An import-linter contract for what its own types let through: a circle of a file and the package that it lies in.

`acyclic_siblings` compares the children of each package with one another. A package is not a child of itself, so a file
that imports the `__init__` beside it, which imports the file, passes there. This contract refuses it.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class AcyclicFiles(Contract):
    """Kept if the files of the graph can be put in an order in which each imports only earlier ones."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """The verdict on all files of the graph; a broken one holds circles of files, each in the order of import."""
        imported = {file: set(graph.find_modules_directly_imported_by(file)) for file in sorted(graph.modules)}
        circles: list[list[str]] = []
        while circle := _circle(imported):
            circles.append(circle)
            imported[circle[0]].remove(circle[1])
        return ContractCheck(kept=not circles, metadata={"circles": circles})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each circle that `check` found on a line."""
        for circle in check.metadata["circles"]:
            output.print_error(" -> ".join(circle))
        output.new_line()


def _circle(imported: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]  # graphlib goes from the imported file to its importer
    return []
