"""How many points there are where counting is too much work: an estimate that always says that it is one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """A number of points. Where it is not exact, the truth lies from `low` to `high` with 95 % confidence."""

    value: int
    low: int
    high: int
    exact: bool

    def __str__(self) -> str:
        if self.exact:
            return str(self.value)
        return f"estimate {self.value:.4g} (95 % interval {self.low:.4g} to {self.high:.4g})"


def counted(value: int) -> Size:
    """An exact number."""
    return Size(value, value, value, True)


def estimated(total: int, hits: int, draws: int) -> Size:
    """The size of the part of `total` points that `hits` of `draws` uniform draws fell into.

    The interval is Clopper and Pearson's, which holds at least its 95 % for every share, also where nothing was hit.
    """
    from scipy.special import betaincinv  # loaded where an estimate is needed, which is seldom

    low = float(betaincinv(hits, draws - hits + 1, 0.025)) if hits else 0.0
    high = float(betaincinv(hits + 1, draws - hits, 0.975)) if hits < draws else 1.0
    return Size(_share(total, hits / draws), _share(total, low), min(total, _share(total, high) + 1), False)


def _share(total: int, part: float) -> int:
    """`total * part`, for totals beyond what a float holds."""
    return total * round(part * 2**53) // 2**53
