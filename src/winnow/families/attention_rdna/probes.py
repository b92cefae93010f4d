"""Small graphs that meet all that an RDNA attention kernel does: what it is checked on where there is no GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from winnow.families.adapter import Field
from winnow.families.attention_rdna.cells import MASKS, WIDTH_STEP
from winnow.graphs.model import Graph, Node, Tensor

_DIMS = "bhsd"
_SCORES = "bhqk"
_ODD = 7
"""A gap between rows after which no row starts at a multiple of 16 bytes."""


@dataclass(frozen=True)
class _Probe:
    name: str
    head_size_qk: int
    head_size_v: int
    heads: tuple[int, int, int]
    seqlen_q: int
    seqlen_kv: int
    orders: tuple[str, str]
    """Dims of Q and O, and of K and V, from the outermost to the innermost in memory."""
    gap: int
    """Elements between innermost rows that belong to no tensor."""
    bias_dims: str
    """The dims of the scores along which the bias varies."""
    bias_order: str = "bhqk"
    plane_gap: int = 0
    """Elements between the planes of the two innermost dims."""
    batch: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)


_BOTTOM_RIGHT = {"diagonal_alignment": "BOTTOM_RIGHT"}


def probe_graphs(metadata: Mapping[str, Field]) -> tuple[Graph, ...]:
    """Graphs that the kernel serves, though they ask for less than it can: four, and for a band one more.

    One has narrow heads with gaps in memory, the kernel's mask and more than one tile of all; one wide values that
    are stored column by column, no mask and several tiles of keys; one heads that some queries' heads share, values
    that end inside a head's second part, contiguous rows of which a head, or a batch, starts at no multiple of 16
    bytes, and a last tile of one key; one queries that see no key. A window ends, for the last query of a tile alone,
    after the first key of a tile.
    """
    width, step = int(metadata["width"]), int(metadata["width_step"])
    block_m, block_n = int(metadata["block_m"]), int(metadata["block_n"])
    exact = step == width
    below, least = (width, width) if exact else (width - WIDTH_STEP, WIDTH_STEP)
    # As many tiles of queries as the first query of the last one is away from the first tile of keys' last key.
    whole = -(-(block_n - 1) // block_m) * block_m
    queries, few = whole + 3, min(block_m, block_n) - 3
    # That query sees one key of the first tile: a loop that begins one key late leaves that tile out.
    left = whole + 1 - block_n
    # The last query sees one key of a tile: a loop that ends one key early leaves that tile out.
    right = 2 * block_n + (1 - queries) % block_n
    keys = queries + right + 4
    options: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "none": ({}, {}),
        "causal": ({"right_bound": right}, {"causal_mask_bottom_right": True}),
        # So wide a band has tiles at its upper edge alone, tiles at its lower one alone, and tiles at none.
        "band": ({"left_bound": left, "right_bound": right}, {"left_bound": 4, "right_bound": 0, **_BOTTOM_RIGHT}),
    }
    masked, late = options[MASKS[int(metadata["mask"])]]
    probes = [
        _Probe("narrow", below, least, (2, 2, 1), queries, keys, ("bshd",) * 2, 8, "bhqk", options=masked),
        _Probe("columns", least, width, (2, 1, 2), 5, 2 * block_n, ("bhds",) * 2, _ODD, "bk", batch=2),
        # Two batches, and heads in even numbers: of the two strides one is a multiple of 8, the other is not.
        _Probe(
            "shared", width, below, (4, 2, 2), 5, block_n + 1, ("bhsd", "hbsd"), 8, "hqk", "bhkq", plane_gap=4, batch=2
        ),
        _Probe("late", width, width, (1, 1, 1), block_m + 1, few, ("sbhd",) * 2, _ODD, "hq", options=late),
    ]
    if MASKS[int(metadata["mask"])] == "band":
        window = {"left_bound": block_m - 2, "right_bound": block_n}
        probes.append(
            _Probe("window", least, least, (1, 1, 1), block_m, 2 * block_n, ("bhsd",) * 2, 0, "q", options=window)
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
    tensors = []
    for uid, (role, shape) in enumerate(shapes.items(), start=1):
        dims = dict(zip(_DIMS, (probe.batch, *shape), strict=True))
        strides = _strides(dims, probe.orders[role in "kv"], probe.gap, probe.plane_gap)
        tensors.append(Tensor(uid, role, tuple(dims.values()), strides, own, virtual=False))
    if bias != "NONE":
        scores = dict(zip(_SCORES, (probe.batch, heads, probe.seqlen_q, probe.seqlen_kv), strict=True))
        dims = {dim: size if dim in probe.bias_dims else 1 for dim, size in scores.items()}
        strides = _strides(dims, probe.bias_order, _ODD)
        data_type = "float" if bias == "FLOAT" else own
        tensors.append(Tensor(5, "attn_mask", tuple(dims.values()), strides, data_type, virtual=False))
    node = Node(
        name="attention",
        type="SdpaAttributes",
        compute_data_type="float",
        inputs={"q": 1, "k": 2, "v": 3, "attn_mask": None if bias == "NONE" else 5},
        outputs={"o": 4},
        options=probe.options,
    )
    return Graph(probe.name, "float", own, "float", tuple(tensors), (node,))


def _strides(dims: Mapping[str, int], order: str, gap: int, plane_gap: int = 0) -> tuple[int, ...]:
    """Strides of dims that lie in `order`, with gaps after the innermost one and after the innermost two."""
    gaps = {order[-1]: gap, order[-2]: plane_gap}
    strides, span = dict.fromkeys(dims, 0), 1
    for dim in reversed(order):
        strides[dim] = span
        span = span * dims[dim] + gaps.get(dim, 0)
    return tuple(strides.values())
