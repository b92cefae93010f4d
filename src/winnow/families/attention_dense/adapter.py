"""The dense attention family's side of a graph: an SDPA node as a problem, its inputs, true result and tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.dtypes import FORMATS
from winnow.families.adapter import Declined, Field, Operand, Problem
from winnow.families.attention.mask import causal_offset, refuse_options
from winnow.families.attention_dense.forward import FAMILY
from winnow.families.attention_dense.probes import probe_graphs
from winnow.families.attention_dense.request import DenseAttentionRequest
from winnow.families.cpu import INT32_MAX
from winnow.families.halves import representable
from winnow.families.operands import operand, refuse_others, runs_at, single_node
from winnow.families.prediction import blocks, count
from winnow.graphs.model import Graph

_FP32_ROUNDOFF = 2.0**-24
_ROLES = ("q", "k", "v", "o")
_DTYPES: Mapping[str, tuple[str, str]] = MappingProxyType({"half": ("FP16", "fp16"), "bfloat16": ("BF16", "bf16")})
"""(spelling in metadata, spelling in specs) by the graph's name of a type."""
_LOAD_QUERIES = 24
"""Loading a tile of keys and values takes about as long as multiplying it by this many queries."""


class DenseAttentionAdapter:
    """Serves one SdpaAttributes node over fp16 or bf16 tensors that lie as batch, sequence, head, element."""

    name = FAMILY
    vocabulary: Mapping[str, frozenset[str]] = MappingProxyType(
        {"dtype": frozenset(spelled for spelled, _ in _DTYPES.values())}
    )

    def problem(self, graph: Graph) -> Problem:
        """The attention that the graph asks for. Raises Declined with the reason when no kernel computes it.

        A causal mask that hides nothing is not a mask: `causal` is 0 then.
        """
        node = single_node(graph, "SdpaAttributes")
        refuse_others(node, _ROLES)
        refuse_options(node.options)
        q, k, v, o = operands = tuple(operand(graph, node, role, tuple(_DTYPES)) for role in _ROLES)
        for tensor in (k, v, o):
            if tensor.data_type != q.data_type:
                raise Declined(f"{tensor.role} is of type {tensor.data_type}, q of {q.data_type}; the kernels take one")
        sizes = _sizes(q, k, v, o)
        causal = _causal(node.options, sizes["seqlen_q"], sizes["seqlen_kv"])
        scale = node.options.get("attn_scale_value")
        fields: dict[str, Field] = {
            "dtype": _DTYPES[q.data_type][0],
            **sizes,
            "causal": int(causal),
            "sliding_window": 0,
            "scale": 1 / math.sqrt(sizes["head_size"]) if scale is None else float(scale),
        }
        pairs = int(_visible(fields).sum()) * sizes["batch"] * sizes["num_query_heads"]
        return Problem(fields, operands, 4 * pairs * sizes["head_size"])

    def request(self, problem: Problem, arch: str) -> DenseAttentionRequest:
        """The registry request that the problem is."""
        fields = problem.fields
        return DenseAttentionRequest(
            arch=arch,
            dtype=_DTYPES[problem.operands[0].data_type][1],
            batch=int(fields["batch"]),
            num_query_heads=int(fields["num_query_heads"]),
            num_kv_heads=int(fields["num_kv_heads"]),
            seqlen_q=int(fields["seqlen_q"]),
            seqlen_kv=int(fields["seqlen_kv"]),
            head_size=int(fields["head_size"]),
            causal=bool(fields["causal"]),
        )

    def inputs(self, problem: Problem, seed: int) -> dict[str, NDArray[Any]]:
        """Standard normal elements, rounded to the tensor's type; bf16 numbers as fp32."""
        generator = np.random.Generator(np.random.PCG64(seed))
        return {
            o.role: representable(generator.standard_normal(o.dims, dtype=np.float32), o.data_type)
            for o in problem.operands
            if not o.output
        }

    def reference(self, problem: Problem, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """Attention in double precision. A query that sees no key yields zeros."""
        fields = problem.fields
        shared = int(fields["num_query_heads"]) // int(fields["num_kv_heads"])
        q, k, v = (inputs[role].astype(np.float64) for role in ("q", "k", "v"))
        k, v = (np.repeat(tensor, shared, axis=1) for tensor in (k, v))
        scores = float(fields["scale"]) * np.matmul(q, k.swapaxes(-1, -2))
        scores = np.where(_visible(fields), scores, -np.inf)
        highest = scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores - np.where(np.isfinite(highest), highest, 0.0))
        total = weights.sum(axis=-1, keepdims=True)
        return {"o": np.matmul(weights / np.where(total > 0, total, 1.0), v)}

    def tolerance(self, problem: Problem) -> tuple[float, float]:
        """(rtol, atol) for `inputs`, where any order of adding is right.

        Weights and result are rounded to the tensors' type once each, with the unit roundoff u: of an average of |V|,
        4 at most, that is 4·u. Scores are computed in fp32 and off by about 2^-24·σ·(10 + sqrt(head size / 6)), with
        σ = scale·sqrt(head size).
        """
        size, keys = int(problem.fields["head_size"]), int(problem.fields["seqlen_kv"])
        sigma = float(problem.fields["scale"]) * math.sqrt(size)
        u = FORMATS[problem.operands[0].data_type].unit_roundoff
        return 2 * u, 4 * u + _FP32_ROUNDOFF * (8 + sigma * (32 + 2 * math.sqrt(size)) + 4 * math.sqrt(keys))

    def score(self, metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
        """The share of a kernel's work that the problem has a use for; larger is better."""
        queries, keys = count(fields, "seqlen_q"), count(fields, "seqlen_kv")
        block_m, block_n = count(metadata, "block_m"), count(metadata, "block_n")
        return queries * keys / (blocks(queries, block_m) * (block_m + _LOAD_QUERIES) * blocks(keys, block_n) * block_n)

    def probes(self, metadata: Mapping[str, Field]) -> tuple[Graph, ...]:
        """Small graphs that a kernel with this metadata serves and that meet all that it does."""
        return probe_graphs(metadata)


ADAPTER = DenseAttentionAdapter()


def _sizes(q: Operand, k: Operand, v: Operand, o: Operand) -> dict[str, int]:
    """The sizes by name, of operands that fit together and have no gaps. Raises Declined when they do not."""
    for tensor in (q, k, v, o):
        if len(tensor.dims) != 4:
            raise Declined(
                f"{tensor.role} has rank {len(tensor.dims)}; the kernels take batch, head, sequence, element"
            )
        _, heads, length, size = tensor.dims
        if min(tensor.dims) < 1:
            raise Declined(f"{tensor.role} has no elements (dims {list(tensor.dims)})")
        dense = (heads * length * size, size, heads * size, 1)
        if not all(runs_at(*axis) for axis in zip(tensor.dims, tensor.strides, dense, strict=True)):
            raise Declined(
                f"{tensor.role} has strides {list(tensor.strides)}; the kernels take batch, sequence, head, element "
                f"without gaps: {list(dense)}"
            )
        if heads * length * size > INT32_MAX:
            raise Declined(
                f"{tensor.role} has {heads * length * size} elements a batch; the kernels count to {INT32_MAX}"
            )
    batch, heads, seqlen_q, head_size = q.dims
    _, kv_heads, seqlen_kv, _ = k.dims
    if o.dims != q.dims or k.dims != (batch, kv_heads, seqlen_kv, head_size) or v.dims != k.dims:
        shown = ", ".join(f"{tensor.role} {list(tensor.dims)}" for tensor in (q, k, v, o))
        raise Declined(f"dims do not fit together: {shown}")
    if heads % kv_heads:
        raise Declined(f"{heads} query heads are not a multiple of {kv_heads} key heads")
    return {
        "batch": batch,
        "num_query_heads": heads,
        "num_kv_heads": kv_heads,
        "seqlen_q": seqlen_q,
        "seqlen_kv": seqlen_kv,
        "head_size": head_size,
    }


def _causal(options: Mapping[str, Any], seqlen_q: int, seqlen_kv: int) -> bool:
    """Whether a causal mask hides anything. Raises Declined when its diagonal is not the kernels'."""
    offset = causal_offset(options, seqlen_q, seqlen_kv)
    if offset is None or offset >= seqlen_kv - 1:
        return False
    if offset != seqlen_kv - seqlen_q:
        raise Declined(
            f"a causal mask with {seqlen_q} queries and {seqlen_kv} keys that does not end at the last of both"
        )
    return True


def _visible(fields: Mapping[str, Field]) -> NDArray[np.bool_]:
    """Which key each query sees: rows are queries."""
    seqlen_q, seqlen_kv = int(fields["seqlen_q"]), int(fields["seqlen_kv"])
    last = np.arange(seqlen_q)[:, None] + seqlen_kv - seqlen_q if fields["causal"] else seqlen_kv - 1
    return np.asarray(np.broadcast_to(np.arange(seqlen_kv)[None, :] <= last, (seqlen_q, seqlen_kv)))
