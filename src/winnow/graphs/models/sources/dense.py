"""The corpus of the dense attention engine for gfx950: models' attention, and a graph for every head configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

from winnow.graphs.kinds import KINDS
from winnow.graphs.model import Graph, Node, Tensor
from winnow.graphs.models.layers import attention

_SOURCE = "made for this corpus: no model is meant"
_LENGTH = 384
_TYPES = {"fp16": "half", "bf16": "bfloat16"}
_SHARING = {
    64: "8/1 8/8 10/10 12/12 16/2 16/16 20/20 32/4 32/8 32/32 64/8 128/128",
    128: "24/24 4/4 8/1 8/2 8/8 9/9 16/2 16/16 28/4 32/4 32/8 32/32 40/8 40/10 40/40 48/8 64/4 64/8 64/64 96/8 128/8",
}
"""Query and key heads by head size: hipDNN's dense configurations."""


def dense_corpus() -> tuple[Graph, ...]:
    """Prefill, a chunk of it, decode and encoders of models, then every head configuration, full and causal."""
    models = (
        _of_type("bfloat16", attention("llama3_8b", "prefill", 512, 512, mask="causal")),
        _of_type("bfloat16", attention("llama3_8b", "prefill", 1024, 1024, mask="causal", shards=4)),
        _of_type("bfloat16", attention("llama3_8b", "decode", 1, 4096, mask="none", cache="bshd", capacity=8192)),
        _of_type("half", attention("mistral_7b", "prefill", 192, 192, mask="causal")),
        _of_type("half", attention("mistral_7b", "chunked_prefill", 64, 320, mask="bottom_right", shards=4)),
        _of_type("half", attention("mistral_7b", "decode", 1, 333, mask="none", cache="bshd", capacity=4096)),
        _of_type("bfloat16", attention("qwen2_7b", "prefill", 128, 128, mask="causal")),
        _of_type("bfloat16", attention("qwen2_7b", "chunked_prefill", 100, 356, mask="bottom_right")),
        _of_type("half", attention("bert_base", "encode", 384, 384, mask="none")),
        _of_type("half", attention("vit_l16", "encode", 577, 577, mask="none")),
        _of_type("half", attention("whisper_base", "encode", 1500, 1500, mask="none")),
        _of_type("half", attention("whisper_base", "prefill", 28, 1500, mask="none", layer="cross_attention")),
    )
    made = (
        _made(type_, size, heads, kv_heads, causal)
        for size, sharing in _SHARING.items()
        for (heads, kv_heads), type_, causal in product(_pairs(sharing), _TYPES, (True, False))
    )
    return (*models, *made)


CORPORA: Mapping[str, Callable[[], tuple[Graph, ...]]] = {"attention_gfx950": dense_corpus}
"""The corpus by its engine."""


def _pairs(sharing: str) -> list[tuple[int, int]]:
    halves = (pair.split("/") for pair in sharing.split())
    return [(int(heads), int(kv_heads)) for heads, kv_heads in halves]


def _of_type(data_type: str, graph: Graph) -> Graph:
    """A model's graph with its tensors in another type; it still computes in float."""
    tensors = tuple(replace(tensor, data_type=data_type) for tensor in graph.tensors)
    return replace(graph, tensors=tensors, io_data_type=data_type)


def _made(type_: str, size: int, heads: int, kv_heads: int, causal: bool) -> Graph:
    counts = {"q": heads, "k": kv_heads, "v": kv_heads, "o": heads}
    own = _TYPES[type_]
    tensors = tuple(
        Tensor(uid, role, (1, n, _LENGTH, size), (n * _LENGTH * size, size, n * size, 1), own, False)
        for uid, (role, n) in enumerate(counts.items(), start=1)
    )
    kind = KINDS["SdpaAttributes"]
    inputs = {"q": 1, "k": 2, "v": 3, **dict.fromkeys(kind.optional_inputs)}
    outputs = {"o": 4, **dict.fromkeys(kind.optional_outputs)}
    options = {"attn_scale_value": 1 / math.sqrt(size), "diagonal_alignment": "TOP_LEFT"}
    options |= {"causal_mask": True} if causal else {}
    node = Node("sdpa", "SdpaAttributes", "float", inputs, outputs, options)
    name = f"{type_}_d{size}_hq{heads}_kv{kv_heads}_{'causal' if causal else 'full'}_q{_LENGTH}_kv{_LENGTH}"
    return Graph(name, "float", own, "float", tensors, (node,), {"source": _SOURCE, "phase": "prefill"})
