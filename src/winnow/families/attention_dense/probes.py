"""Small graphs that meet all that a dense attention kernel does: what it is checked on where there is no GPU."""

from __future__ import annotations

from collections.abc import Mapping

from winnow.families.adapter import Field
from winnow.graphs.model import Graph, Node, Tensor

_DATA_TYPES = {"FP16": "half", "BF16": "bfloat16"}
_MANY_HEADS = 16
"""Above this, heads alone are work enough: the graphs have one tile of queries."""


def probe_graphs(metadata: Mapping[str, Field]) -> tuple[Graph, ...]:
    """More keys than queries with a torn last tile; then, with few heads, two tiles of queries and unseeing queries.

    Under a causal mask, the first query of `torn` sees all keys of a tile but the last; the last query of the first
    tile of `tiles` sees one key of a tile: a bound that is off by one shows.
    """
    block_m, block_n = int(metadata["block_m"]), int(metadata["block_n"])
    graphs = [_graph("torn", metadata, batch=1, seqlen_q=5, seqlen_kv=block_n + 3)]
    if int(metadata["num_query_heads"]) <= _MANY_HEADS:
        graphs.append(_graph("tiles", metadata, batch=1, seqlen_q=block_m + 3, seqlen_kv=block_n + 4))
        graphs.append(_graph("late", metadata, batch=2, seqlen_q=block_n + 9, seqlen_kv=block_n - 3))
    return tuple(graphs)


def _graph(name: str, metadata: Mapping[str, Field], *, batch: int, seqlen_q: int, seqlen_kv: int) -> Graph:
    heads, kv_heads, size = (int(metadata[key]) for key in ("num_query_heads", "num_kv_heads", "head_size"))
    data_type = _DATA_TYPES[str(metadata["dtype"])]
    shapes = {"q": (heads, seqlen_q), "k": (kv_heads, seqlen_kv), "v": (kv_heads, seqlen_kv), "o": (heads, seqlen_q)}
    tensors = [
        Tensor(
            uid,
            role,
            (batch, count, length, size),
            (count * length * size, size, count * size, 1),
            data_type,
            virtual=False,
        )
        for uid, (role, (count, length)) in enumerate(shapes.items(), start=1)
    ]
    node = Node(
        name="attention",
        type="SdpaAttributes",
        compute_data_type="float",
        inputs={"q": 1, "k": 2, "v": 3},
        outputs={"o": 4},
        options={"causal_mask_bottom_right": True} if metadata["causal"] else {},
    )
    return Graph(name, "float", data_type, "float", tuple(tensors), (node,))
