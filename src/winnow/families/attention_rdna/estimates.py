"""How many registers a tile of attention needs, before any compiler is asked.

All is counted in matrices of 16 by 16 elements, as the 32 lanes of a warp hold them. Where they lie is Triton's layout;
`_FETCHED`, `_BIASED` and `_OTHER` are fitted to compiled tiles, whose mask and `waves_per_eu` made little difference.
"""

from __future__ import annotations

_SIDE = 16

_RESULT = 8
"""Registers of a lane for a matrix in fp32: outputs and scores."""

_OPERAND = 4
"""Registers of a lane for a matrix of halves, wherever it lies once: queries, keys, weights and values."""

_FETCHED = 20
"""Registers of a lane, were it the only warp, for a matrix of keys and one of values on their way from memory.

An element of either takes one where rows are not contiguous, and those that are contiguous lie beside them.
"""

_BIASED = 5
"""Registers for an element of the bias on its way, in each stage: its value, its address, whether it exists."""

_OTHER = 48
"""Strides and addresses, row maxima and sums, scalars that found no scalar register."""


def warp_grid(rows: int, columns: int, warps: int) -> tuple[int, int]:
    """How Triton lays warps over a product of `rows` by `columns` matrices: how many split the rows, and the columns.

    A warp needs the operands of all its rows and columns. One that finds no matrix of its own holds another's.
    """
    down = across = 1
    while down * across < warps:
        if down < rows and rows // (2 * down) >= columns // across:
            down *= 2
        else:
            across *= 2
    return (across, down) if across > columns else (down, across)


def registers_needed(
    width: int,
    block_m: int,
    block_n: int,
    transposed: int,
    num_warps: int,
    num_stages: int,
    biased: bool,
    operand_copies: int,
) -> int:
    """Registers of a lane where most are live: outputs, queries, and what one of the two products holds."""
    queries, keys, columns = block_m // _SIDE, block_n // _SIDE, width // _SIDE
    operand = _OPERAND * operand_copies
    query_share, key_share = _shares(queries, keys, num_warps, transposed)
    scores = _RESULT * query_share * key_share
    outputs = values = weights = 0
    for part in _powers_of_two(columns):
        row_share, column_share = _shares(queries, part, num_warps, transposed)
        outputs += _RESULT * row_share * column_share
        values += operand * keys * column_share
        weights = max(weights, operand * row_share * keys)
    held = outputs + operand * query_share * columns
    product = max(operand * key_share * columns + scores, weights + values)
    fetched = _FETCHED * keys * columns // num_warps
    return held + product + fetched + biased * _BIASED * num_stages * scores + _OTHER


def registers_to_spill(width: int, operand_copies: int) -> int:
    """How many registers a tile may need beyond those there are: as many as two rows of operand matrices take.

    Wide heads spill whatever the tile, the more the oftener an operand lies in a wave's registers.
    """
    return 2 * _OPERAND * operand_copies * (width // _SIDE)


def _shares(queries: int, others: int, warps: int, transposed: int) -> tuple[int, int]:
    """A warp's matrices of a product along the queries, and along keys or columns: transposed, these are its rows."""
    if transposed:
        down, across = warp_grid(others, queries, warps)
        return max(1, queries // across), max(1, others // down)
    down, across = warp_grid(queries, others, warps)
    return max(1, queries // down), max(1, others // across)


def _powers_of_two(columns: int) -> tuple[int, ...]:
    """A head's columns as the kernel has them: the largest power of two, and the rest where there is one."""
    head = 1 << (columns.bit_length() - 1)
    return (head, columns - head) if columns > head else (head,)
