"""Makes the graphs of a model's layers: matrix products and attention, with the layouts that they really have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from winnow.graphs.kinds import KINDS
from winnow.graphs.model import Graph, Node, Tensor
from winnow.graphs.models.table import MODELS, Model

Mask = Literal["none", "causal", "bottom_right"]
Layout = Literal["bshd", "bhsd", "fused"]


@dataclass(frozen=True)
class View:
    """A tensor's logical dims and its strides in elements."""

    dims: tuple[int, ...]
    strides: tuple[int, ...]


def linear(model: str, layer: str, phase: str, tokens: int, *, shards: int = 1, note: str = "") -> Graph:
    """The product of `tokens` rows with one weight matrix: [1, m, k] x [1, k, n].

    With `shards`, what one of that many devices computes under tensor parallelism.

    Raises:
        KeyError: no such model, or it has no such layer.
        ValueError: the split side does not divide by `shards`.
    """
    config = MODELS[model]
    weight = config.architecture.linears[layer]
    n, k = getattr(config, weight.out), getattr(config, weight.in_)
    cut = ""
    if shards > 1 and weight.split == "out":
        n, whole = _share(n, shards), n
        cut = f"tensor parallel {shards}: {n} of {whole} output features"
    elif shards > 1:
        k, whole = _share(k, shards), k
        cut = f"tensor parallel {shards}: {k} of {whole} input features"
    return _matmul(
        _name(model, layer, phase, f"m{tokens}", shards),
        View((1, tokens, k), (tokens * k, k, 1)),
        View((1, k, n), (k * n, n, 1) if weight.conv1d else (k * n, 1, k)),
        View((1, tokens, n), (tokens * n, n, 1)),
        _provenance(config, weight.path, phase, cut, note),
    )


def scores(model: str, phase: str, tokens: int, *, shards: int = 1) -> Graph:
    """Queries times transposed keys, a product for each head, read in place from the projections' outputs."""
    config = MODELS[model]
    heads, d = _share(config.heads, shards), config.head_size
    width = heads * d
    return _matmul(
        _name(model, "attention_scores", phase, f"m{tokens}", shards),
        View((heads, tokens, d), (d, width, 1)),
        View((heads, d, tokens), (d, 1, width)),
        View((heads, tokens, tokens), (tokens * tokens, tokens, 1)),
        _provenance(config, _path(config, "attention", "scores"), phase, _head_cut(config, shards)),
    )


def context(model: str, phase: str, tokens: int, *, shards: int = 1) -> Graph:
    """Probabilities times values, a product for each head, written where the output projection reads."""
    config = MODELS[model]
    heads, d = _share(config.heads, shards), config.head_size
    width = heads * d
    return _matmul(
        _name(model, "attention_context", phase, f"m{tokens}", shards),
        View((heads, tokens, tokens), (tokens * tokens, tokens, 1)),
        View((heads, tokens, d), (d, width, 1)),
        View((heads, tokens, d), (d, width, 1)),
        _provenance(config, _path(config, "attention", "context"), phase, _head_cut(config, shards)),
    )


def attention(
    model: str,
    phase: str,
    seqlen_q: int,
    seqlen_kv: int,
    *,
    mask: Mask,
    layer: str = "attention",
    batch: int = 1,
    shards: int = 1,
    layout: Layout = "bshd",
    cache: Layout | None = None,
    capacity: int | None = None,
    cut: str = "",
    note: str = "",
) -> Graph:
    """One attention layer. `layout` is that of queries and output.

    Keys and values have the layout `cache` where it is given (a cache with room for `capacity` tokens), else
    `layout` too. "bshd" is what separate projections write, "fused" a view into the output of one projection to
    queries, keys and values, "bhsd" one contiguous matrix for each head.

    Raises:
        KeyError: no such model, or it has no such layer.
        ValueError: the heads do not divide by `shards`.
    """
    config = MODELS[model]
    d = config.head_size
    heads, kv_heads = _share(config.heads, shards), _share(config.kv_heads, shards)
    fused_width = (heads + 2 * kv_heads) * d
    place_q, place_kv = _LAYOUTS[layout], _LAYOUTS[cache or layout]
    q = place_q((batch, heads, seqlen_q, d), seqlen_q, fused_width)
    kv = place_kv((batch, kv_heads, seqlen_kv, d), capacity or seqlen_kv, fused_width)
    o = _LAYOUTS["bshd" if layout == "fused" else layout]((batch, heads, seqlen_q, d), seqlen_q, fused_width)
    kind = KINDS["SdpaAttributes"]
    node = Node(
        "sdpa",
        "SdpaAttributes",
        "float",
        {"q": 1, "k": 2, "v": 3, **dict.fromkeys(kind.optional_inputs)},
        {"o": 4, **dict.fromkeys(kind.optional_outputs)},
        _sdpa_options(mask, d),
    )
    return _graph(
        _name(model, layer, phase, f"b{batch}_q{seqlen_q}_kv{seqlen_kv}", shards),
        {"q": q, "k": kv, "v": kv, "o": o},
        node,
        _provenance(config, config.architecture.attention[layer], phase, cut or _head_cut(config, shards), note),
    )


def _bshd(dims: tuple[int, ...], rows: int, _fused_width: int) -> View:
    _, heads, _, d = dims
    return View(dims, (rows * heads * d, d, heads * d, 1))


def _bhsd(dims: tuple[int, ...], rows: int, _fused_width: int) -> View:
    _, heads, _, d = dims
    return View(dims, (heads * rows * d, rows * d, d, 1))


def _fused(dims: tuple[int, ...], rows: int, fused_width: int) -> View:
    return View(dims, (rows * fused_width, dims[3], fused_width, 1))


_LAYOUTS: dict[Layout, Callable[[tuple[int, ...], int, int], View]] = {
    "bshd": _bshd,
    "bhsd": _bhsd,
    "fused": _fused,
}


def _sdpa_options(mask: Mask, head_size: int) -> dict[str, Any]:
    """Every option that hipDNN writes, so that its own reader, which misses none, can load the file."""
    return {
        "generate_stats": None,
        "alibi_mask": False,
        "padding_mask": False,
        "causal_mask": mask == "causal",
        "causal_mask_bottom_right": mask == "bottom_right",
        "dropout_probability": None,
        "attn_scale_value": 1.0 / math.sqrt(head_size),
        "left_bound": None,
        "right_bound": None,
        "max_seq_len_kv": None,
        "diagonal_alignment": "BOTTOM_RIGHT" if mask == "bottom_right" else "TOP_LEFT",
        "mma_core_mode": "UNSET",
        "implementation": "AUTO",
    }


def _matmul(name: str, a: View, b: View, c: View, provenance: Mapping[str, str]) -> Graph:
    node = Node("matmul", "MatmulAttributes", "float", {"a": 1, "b": 2}, {"c": 3})
    return _graph(name, {"a": a, "b": b, "c": c}, node, provenance)


def _graph(name: str, views: Mapping[str, View], node: Node, provenance: Mapping[str, str]) -> Graph:
    tensors = tuple(
        Tensor(uid, role, view.dims, view.strides, "float", False)
        for uid, (role, view) in enumerate(views.items(), start=1)
    )
    return Graph(name, "float", "float", "float", tensors, (node,), provenance)


def _share(whole: int, shards: int) -> int:
    if whole % shards:
        raise ValueError(f"{whole} does not divide by {shards}")
    return whole // shards


def _head_cut(config: Model, shards: int) -> str:
    if shards == 1:
        return ""
    heads = f"{config.heads // shards} of {config.heads} query heads"
    return f"tensor parallel {shards}: {heads}, {config.kv_heads // shards} of {config.kv_heads} key-value heads"


def _path(config: Model, layer: str, part: str) -> str:
    return f"{config.architecture.attention[layer]} ({part})"


def _name(model: str, layer: str, phase: str, dims: str, shards: int) -> str:
    return f"{model}_{layer}_{phase}_{dims}" + (f"_tp{shards}" if shards > 1 else "")


def _provenance(config: Model, path: str, phase: str, cut: str = "", note: str = "") -> dict[str, str]:
    said = {"model": config.name, "layer": path, "phase": phase, "source": config.source}
    return said | {key: text for key, text in (("slice", cut), ("note", note)) if text}
