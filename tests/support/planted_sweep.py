"""An engine of planted kernels, its graphs, and what a sweep has measured of them."""

from __future__ import annotations

from pathlib import Path

from planted import engine, graph, kernel

from winnow.sweep.database import reading

ENGINE = engine(
    kernel(0, "good", 1000, guess=3),
    kernel(1, "better", 900),
    kernel(2, "slow", 5000),
    kernel(3, "wide", 950, step=64),
    kernel(4, "wrong", 1, "wrong"),
    kernel(5, "endless", 1, "loop"),
    kernel(6, "crashing", 1, "crash"),
    kernel(7, "unloadable", 1, "unloadable"),
    kernel(8, "spoiling", 1, "spoil"),
    kernel(9, "timeless", 1, "zero"),
)
GRAPHS = (graph(64), graph(100), graph(128), graph(31))


def measured(path: Path) -> list[tuple[str, str, str, int]]:
    """(graph, arm, samples, round) of every row."""
    with reading(path) as db:
        return db.rows(
            "SELECT b.graph, a.name, m.samples, m.round FROM measurement m JOIN batch b ON m.batch = b.id"
            " JOIN arm a ON a.batch = b.id AND a.position = m.arm ORDER BY 1, 2, 4"
        )
