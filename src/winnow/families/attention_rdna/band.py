"""The keys that a query sees, as the options of an SDPA node state them: a band along the diagonal of the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from winnow.families.adapter import Declined
from winnow.families.attention.mask import causal_offset, diagonal_corner


def band_of(options: Mapping[str, Any], seqlen_q: int, seqlen_kv: int) -> tuple[str, int, int]:
    """(mask, low, high): query i sees key j where i + low <= j <= i + high.

    A bound that hides nothing is not a bound: `mask` is the most special of `none`, `causal` and `band` that is true.
    `left_bound` L lets a query see the L keys before its own place on the diagonal.
    """
    low, high = -seqlen_q, seqlen_kv
    right = causal_offset(options, seqlen_q, seqlen_kv)
    if right is not None:
        high = max(right, -seqlen_q)
    left = options.get("left_bound")
    if left is not None:
        if left < 0:
            raise Declined(f"left_bound is {left}; the kernels take 0 or more")
        low = max(diagonal_corner(options, seqlen_q, seqlen_kv) - left, -seqlen_q)
    bounded_left = low + seqlen_q - 1 > 0
    bounded_right = high < seqlen_kv - 1
    return "band" if bounded_left else "causal" if bounded_right else "none", low, high
