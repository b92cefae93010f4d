"""Small graphs that meet all that an RDNA attention kernel does: what it is checked on where there is no GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from winnow.families.adapter import Field
from winnow.families.attention_rdna.cells import MASKS, WIDTH_STEP
from winnow.graphs.model import Graph, Node, Tensor

_DIMS = "bhsd"
_ROWS = 7
"""Elements between rows of memory that belong to no tensor."""


@dataclass(frozen=True)
class _Probe:
    name: str
    head_size_qk: int
    head_size_v: int
    heads: tuple[int, int, int]
    seqlen_q: int
    seqlen_kv: int
    order: str
    """Dims from the outermost to the innermost in memory."""
    gap: int
    bias_dims: str
    """The dims of the scores along which the bias varies."""
    batch: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)


_BOTTOM_RIGHT = {"diagonal_alignment": "BOTTOM_RIGHT"}


def probe_graphs(metadata: Mapping[str, Field]) -> tuple[Graph, ...]:
    """Three graphs that the kernel serves, though they ask for less than it can.

    One has narrow heads with gaps in memory, the kernel's mask and more than one tile of all; one wide values that
    are stored column by column, no mask and several tiles of keys; one queries that see no key.
    """
    width, step = int(metadata["width"]), int(metadata["width_step"])
    block_m, block_n = int(metadata["block_m"]), int(metadata["block_n"])
    exact = step == width
    narrow, least = (width, width) if exact else (width - WIDTH_STEP, WIDTH_STEP)
    queries, keys = block_m + 3, block_m + 2 * block_n + 5
    # The last query sees one key of a tile: a loop that ends one key early leaves that tile out.
    right = block_n + (1 - queries) % block_n
    options: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "none": ({}, {}),
        "causal": ({"right_bound": right}, {"causal_mask_bottom_right": True}),
        # So wide a band has tiles at its upper edge alone, tiles at its lower one alone, and tiles at none.
        "band": ({"left_bound": block_m, "right_bound": right}, {"left_bound": 4, "right_bound": 0, **_BOTTOM_RIGHT}),
    }
    masked, late = options[MASKS[int(metadata["mask"])]]
    probes = (
        _Probe("narrow", narrow, least, (2, 2, 1), queries, keys, "bshd", 8, "bhqk", options=masked),
        _Probe("columns", least, width, (2, 1, 2), 5, 3 * block_n, "bhds", _ROWS, "bk", batch=2),
        _Probe(
            "late", width, width, (1, 1, 1), block_m + 1, min(block_m, block_n) - 3, "sbhd", _ROWS, "hq", options=late
        ),
    )
    return tuple(_graph(probe, str(metadata["dtype"]), str(metadata["bias"])) for probe in probes)


def _graph(probe: _Probe, dtype: str, bias: str) -> Graph:
    own = {"HALF": "half", "BFLOAT16": "bfloat16"}[dtype]
    heads, k_heads, v_heads = probe.heads
    shapes = {
        "q": (heads, probe.seqlen_q, probe.head_size_qk),
        "k": (k_heads, probe.seqlen_kv, probe.head_size_qk),
        "v": (v_heads, probe.seqlen_kv, probe.head_size_v),
        "o": (heads, probe.seqlen_q, probe.head_size_v),
    }
    tensors = [
        _tensor(uid, role, (probe.batch, *shape), probe.order, probe.gap, own)
        for uid, (role, shape) in enumerate(shapes.items(), start=1)
    ]
    if bias != "NONE":
        scores = dict(zip("bhqk", (probe.batch, heads, probe.seqlen_q, probe.seqlen_kv), strict=True))
        dims = tuple(size if dim in probe.bias_dims else 1 for dim, size in scores.items())
        data_type = "float" if bias == "FLOAT" else own
        tensors.append(_tensor(5, "attn_mask", dims, "bhsd", _ROWS, data_type))
    node = Node(
        name="attention",
        type="SdpaAttributes",
        compute_data_type="float",
        inputs={"q": 1, "k": 2, "v": 3, "attn_mask": None if bias == "NONE" else 5},
        outputs={"o": 4},
        options=probe.options,
    )
    return Graph(probe.name, "float", own, "float", tuple(tensors), (node,))


def _tensor(uid: int, name: str, dims: tuple[int, ...], order: str, gap: int, data_type: str) -> Tensor:
    """A tensor whose innermost rows have `gap` elements between them."""
    strides, span = dict.fromkeys(_DIMS, 0), 1
    for dim in reversed(order):
        strides[dim] = span
        span *= dims[_DIMS.index(dim)]
        span += gap if dim == order[-1] else 0
    return Tensor(uid, name, dims, tuple(strides.values()), data_type, virtual=False)
