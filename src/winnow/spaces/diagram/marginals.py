"""For every axis and choice the number of valid points that take it, from the diagram."""

from __future__ import annotations

from collections.abc import Sequence

from winnow.spaces.diagram.diagram import Diagram, Level


def marginals(diagram: Diagram, sizes: Sequence[int]) -> list[list[int]]:
    """For every axis and choice the number of valid points that take it."""
    counts = [[0] * size for size in sizes]
    levels = diagram.levels
    if not diagram.total:
        return counts
    if not all(isinstance(level.starts, list | tuple) for level in levels):
        from winnow.spaces.diagram.array_marginals import marginals_in_arrays  # the diagram was made with arrays

        return marginals_in_arrays(diagram, sizes)
    around: list[dict[int, int]] = [{} for _ in levels]
    for root in diagram.roots:
        around[root][0] = diagram.total // levels[root].total(0)
    for which, level in enumerate(levels):
        for context, outside in around[which].items():
            _spread(levels, level, context, outside, counts[level.axis], around)
    return counts


def _spread(
    levels: Sequence[Level],
    level: Level,
    context: int,
    outside: int,
    counts: list[int],
    around: list[dict[int, int]],
) -> None:
    """Share what is around a context among its edges, and pass each child what is then around it."""
    for edge in range(level.starts[context], level.ends[context]):
        weight = outside * (int(level.upto[edge + 1]) - int(level.upto[edge]))
        if weight:
            counts[level.choices[edge]] += weight
            for child, contexts in zip(level.children, level.below, strict=True):
                met, known = int(contexts[edge]), around[child]
                known[met] = known.get(met, 0) + weight // levels[child].total(met)
