"""Whether a kernel's output is right: compared with the truth in float64, element by element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Correctness:
    """Three-valued: only `passed` may be ranked, shipped or counted."""

    state: Literal["passed", "failed", "unchecked"]
    detail: str
    max_abs: float
    max_rel: float


def failed(detail: str) -> Correctness:
    """A failure that no error of a number describes."""
    return Correctness("failed", detail, float("inf"), float("inf"))


def judge(role: str, got: NDArray[Any], true: NDArray[np.float64], rtol: float, atol: float) -> Correctness:
    """Compare one output with the truth: |got - true| <= atol + rtol · |true| everywhere, and nothing but numbers."""
    values = got.astype(np.float64)
    if not np.isfinite(values).all():
        at = _index(~np.isfinite(values))
        return failed(f"{role}{list(at)} is {values[at]}, expected {true[at]:.6g}")
    error = np.abs(values - true)
    max_abs = float(error.max(initial=0.0))
    max_rel = float((error / np.maximum(np.abs(true), np.finfo(np.float32).tiny)).max(initial=0.0))
    excess = error - (atol + rtol * np.abs(true))
    wrong = int((excess > 0).sum())
    if not wrong:
        return Correctness("passed", "", max_abs, max_rel)
    at = _index(excess == excess.max())
    detail = (
        f"{role}{list(at)} is {values[at]:.6g}, expected {true[at]:.6g} "
        f"({wrong} of {error.size} elements beyond rtol {rtol:g}, atol {atol:g})"
    )
    return Correctness("failed", detail, max_abs, max_rel)


def _index(where: NDArray[np.bool_]) -> tuple[int, ...]:
    """The first place where it is true."""
    return tuple(int(i) for i in np.unravel_index(int(where.argmax()), where.shape))
