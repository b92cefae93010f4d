"""`python -m winnow.graphs.models DIR` writes the corpora of the built-in engines below DIR."""

from __future__ import annotations

import argparse
from pathlib import Path

from winnow.files import write_atomic
from winnow.graphs.models.sources import all_corpora
from winnow.graphs.reader import write_graph


def write_corpora(directory: Path) -> dict[str, int]:
    """Write `<directory>/<engine>/corpus/<graph>.json` for every graph; returns how many each engine got."""
    counts: dict[str, int] = {}
    for engine, corpus in all_corpora().items():
        graphs = corpus()
        for graph in graphs:
            write_atomic(directory / engine / "corpus" / f"{graph.name}.json", write_graph(graph))
        counts[engine] = len(graphs)
    return counts


def main() -> None:
    """Entry point of the module."""
    parser = argparse.ArgumentParser(prog="python -m winnow.graphs.models", description=__doc__)
    parser.add_argument("directory", type=Path, help="the directory of the engines")
    for engine, count in write_corpora(parser.parse_args().directory).items():
        print(f"{engine}: {count} graphs")


if __name__ == "__main__":
    main()
