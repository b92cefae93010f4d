"""The cells of the RDNA kernel sets: which head widths, mask and bias one object serves, and which cell is closest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

WIDTH_STEP = 16
"""Head widths are multiples of this many elements: one matrix instruction's depth."""

MASKS = ("none", "causal", "band")
"""From the most special to the most general: a kernel serves its own mask and those before it.

`causal` bounds the keys of a query from above, `band` from both sides (a sliding window is a band); where the bounds
lie is said at run time.
"""

BIASES = ("none", "fp32", "same")
"""What is added to the scores: nothing, a tensor in fp32, or one of Q's own type."""


@dataclass(frozen=True)
class Cell:
    """Heads of up to `width` elements that are multiples of `width_step`.

    Where both are one number the object is exact: it takes no other width, and masks no columns.
    """

    width: int
    width_step: int
    mask: str
    bias: str

    @property
    def exact(self) -> bool:
        """Whether it serves one width only."""
        return self.width_step == self.width

    def serves(self, head_size_qk: int, head_size_v: int, mask: str, bias: str) -> bool:
        """Whether an object of this cell computes attention of these widths, this mask and this bias."""
        widths = (head_size_qk, head_size_v)
        return (
            all(0 < size <= self.width and size % self.width_step == 0 for size in widths)
            and MASKS.index(mask) <= MASKS.index(self.mask)
            and bias == self.bias
        )

    @property
    def preference(self) -> tuple[int, int, int]:
        """Of the cells that serve a problem the least is the best: exact, then the tightest, then the most special."""
        return int(not self.exact), self.width, MASKS.index(self.mask)


def _buckets(widths: tuple[int, ...], *features: tuple[str, str]) -> tuple[Cell, ...]:
    return tuple(Cell(width, WIDTH_STEP, mask, bias) for width, (mask, bias) in product(widths, features))


_BIASED = (("band", "fp32"), ("band", "same"))

CELLS: tuple[Cell, ...] = (
    *_buckets((64, 96, 128), ("none", "none"), ("band", "none"), *_BIASED),
    *_buckets((160, 256), ("none", "none"), ("causal", "none"), ("band", "none"), *_BIASED),
    *(Cell(width, width, mask, "none") for width, mask in product((192, 256), MASKS)),
)
"""Every cell that is built, for each element type."""

WIDEST = max(cell.width for cell in CELLS)


def closest_cell(head_size_qk: int, head_size_v: int, mask: str, bias: str) -> Cell | None:
    """The cell that serves a problem best, or None where none does."""
    serving = [cell for cell in CELLS if cell.serves(head_size_qk, head_size_v, mask, bias)]
    return min(serving, key=lambda cell: cell.preference, default=None)
