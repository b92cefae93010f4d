"""The corpus of the RDNA engines: attention of every width, mask and bias that their kernels tell apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from winnow.graphs.kinds import KINDS
from winnow.graphs.model import Graph, Node, Tensor

_SOURCE = "made for this corpus: no model is meant"
_TYPES = {"fp16": "half", "bf16": "bfloat16"}
_HEADS = ((64, 64), (80, 80), (96, 96), (128, 128), (128, 64), (160, 160), (192, 192), (192, 128), (256, 256))
"""Widths of Q and K, and of V: three fill no bucket, 192 and 128 are two widths in one head."""

_PLAIN: Mapping[str, Any] = {"diagonal_alignment": "TOP_LEFT"}
_MASKS: Mapping[str, Mapping[str, Any]] = {
    "full": _PLAIN,
    "causal": {**_PLAIN, "causal_mask": True},
    "window": {**_PLAIN, "left_bound": 63, "right_bound": 0},
}


@dataclass(frozen=True)
class _Shape:
    """Query heads, heads of K and V, queries and keys."""

    name: str
    heads: int
    kv_heads: int
    seqlen_q: int
    seqlen_kv: int


_PREFILL = _Shape("prefill", 8, 2, 256, 256)
_DECODE = _Shape("decode", 16, 4, 1, 1024)


def rdna_corpus() -> tuple[Graph, ...]:
    """Full, causal and windowed attention of every pair of widths, biases on some, and single queries."""
    graphs: list[Graph] = []
    for type_, widths in product(_TYPES, _HEADS):
        graphs += (_attention(type_, widths, _PREFILL, mask) for mask in _MASKS)
        graphs.append(_attention(type_, widths, _DECODE, "full"))
        if widths[0] == widths[1] != 192:
            graphs += (_attention(type_, widths, _PREFILL, "causal", bias) for bias in ("float", _TYPES[type_]))
    return tuple(graphs)


CORPORA: Mapping[str, Callable[[], tuple[Graph, ...]]] = {
    "attention_gfx11": rdna_corpus,
    "attention_gfx12": rdna_corpus,
}
"""Corpora by engine that are made and not taken from models."""


def _attention(type_: str, widths: tuple[int, int], shape: _Shape, mask: str, bias: str = "") -> Graph:
    own = _TYPES[type_]
    width_qk, width_v = widths
    tensors = [
        _bshd(1, "q", shape.heads, shape.seqlen_q, width_qk, own),
        _bshd(2, "k", shape.kv_heads, shape.seqlen_kv, width_qk, own),
        _bshd(3, "v", shape.kv_heads, shape.seqlen_kv, width_v, own),
        _bshd(4, "o", shape.heads, shape.seqlen_q, width_v, own),
    ]
    if bias:
        dims = (1, shape.heads, shape.seqlen_q, shape.seqlen_kv)
        strides = (shape.heads * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1)
        tensors.append(Tensor(5, "attn_mask", dims, strides, bias, False))
    kind = KINDS["SdpaAttributes"]
    inputs = {"q": 1, "k": 2, "v": 3, **dict.fromkeys(kind.optional_inputs), "attn_mask": 5 if bias else None}
    outputs = {"o": 4, **dict.fromkeys(kind.optional_outputs)}
    options = {"attn_scale_value": 1 / math.sqrt(width_qk), **_MASKS[mask]}
    added = {"": "", "float": "_bias_fp32"}.get(bias, "_bias_same")
    name = f"{type_}_d{width_qk}_dv{width_v}_{mask}{added}_{shape.name}_q{shape.seqlen_q}_kv{shape.seqlen_kv}"
    node = Node("sdpa", "SdpaAttributes", "float", inputs, outputs, options)
    provenance = {"source": _SOURCE, "phase": shape.name}
    return Graph(name, "float", own, "float", tuple(tensors), (node,), provenance)


def _bshd(uid: int, role: str, heads: int, rows: int, width: int, type_: str) -> Tensor:
    strides = (rows * heads * width, width, heads * width, 1)
    return Tensor(uid, role, (1, heads, rows, width), strides, type_, False)
