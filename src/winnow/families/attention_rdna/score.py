"""Which of the kernels that serve a problem comes first: the ranking before anything was measured."""

from __future__ import annotations

from collections.abc import Mapping

from winnow.families.adapter import Field
from winnow.families.attention_rdna.cells import MASKS, WIDEST, WIDTH_STEP
from winnow.families.prediction import blocks, count

_MASKS = len(MASKS)
_LOAD_QUERIES = 24
"""Loading a tile of keys and values takes about as long as multiplying it by this many queries."""
_WIDTHS = WIDEST // WIDTH_STEP + 1


def predicted_merit(metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
    """Larger is better. Exact widths beat buckets, a tight bucket a wide one, a special mask a general one.

    Kernels that are alike in all of these are ranked by the share of their work that the problem has a use for.
    """
    width, step = count(metadata, "width"), count(metadata, "width_step")
    mask = int(metadata.get("mask", 0))
    cell = ((step != width) * _WIDTHS + width // WIDTH_STEP) * _MASKS + mask
    queries, keys = count(fields, "seqlen_q"), count(fields, "seqlen_kv")
    block_m, block_n = count(metadata, "block_m"), count(metadata, "block_n")
    worked = blocks(queries, block_m) * (block_m + _LOAD_QUERIES) * blocks(keys, block_n) * block_n
    return queries * keys / worked - cell
