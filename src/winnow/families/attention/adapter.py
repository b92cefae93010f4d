"""The attention family's side of a graph: an SDPA node as a problem, its inputs, its true result, its tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.dtypes import FORMATS
from winnow.families.adapter import Declined, Field, Operand, Problem
from winnow.families.attention.abi import FAMILY
from winnow.families.attention.mask import causal_offset, refuse_options
from winnow.families.attention.request import AttentionRequest
from winnow.families.attention.score import predicted_gflops
from winnow.families.cpu import INT32_MAX
from winnow.families.operands import operand, refuse_others, runs_at, single_node
from winnow.graphs.model import Graph

UNIT_ROUNDOFF = FORMATS["float"].unit_roundoff
_DTYPE = "FLOAT"
_ROLES = ("q", "k", "v", "o")


class AttentionAdapter:
    """Serves one SdpaAttributes node over fp32 tensors of dims batch, head, sequence, element."""

    name = FAMILY
    vocabulary: Mapping[str, frozenset[str]] = MappingProxyType({"dtype": frozenset({_DTYPE})})

    def problem(self, graph: Graph) -> Problem:
        """The attention that the graph asks for. Raises Declined with the reason when no kernel computes it.

        A causal mask that hides nothing is not a mask: `causal` is 0 then, so that decoding needs no causal kernel.
        """
        node = single_node(graph, "SdpaAttributes")
        refuse_others(node, _ROLES)
        refuse_options(node.options)
        operands = tuple(operand(graph, node, role) for role in _ROLES)
        sizes = _sizes(*operands)
        seqlen_q, seqlen_kv, head_size = sizes["seqlen_q"], sizes["seqlen_kv"], sizes["head_size"]
        offset = causal_offset(node.options, seqlen_q, seqlen_kv)
        causal = offset is not None and offset < seqlen_kv - 1
        scale = node.options.get("attn_scale_value")
        strides = {
            f"stride_{o.role}{letter}": stride
            for o in operands
            for letter, stride in zip("bhs", o.strides[:3], strict=True)
        }
        fields: dict[str, Field] = {
            "dtype": _DTYPE,
            **sizes,
            "causal": int(causal),
            "causal_offset": offset if causal and offset is not None else seqlen_kv - 1,
            "scale": 1 / math.sqrt(head_size) if scale is None else float(scale),
            **strides,
        }
        visible = _visible_keys(fields).sum() if causal else seqlen_q * seqlen_kv
        flops = 4 * sizes["batch"] * sizes["num_query_heads"] * head_size * int(visible)
        return Problem(fields, operands, flops)

    def request(self, problem: Problem, arch: str) -> AttentionRequest:
        """The registry request that the problem is."""
        return AttentionRequest(
            arch=arch,
            batch=int(problem.fields["batch"]),
            num_query_heads=int(problem.fields["num_query_heads"]),
            num_kv_heads=int(problem.fields["num_kv_heads"]),
            seqlen_q=int(problem.fields["seqlen_q"]),
            seqlen_kv=int(problem.fields["seqlen_kv"]),
            head_size=int(problem.fields["head_size"]),
            causal=int(problem.fields["causal"]),
        )

    def inputs(self, problem: Problem, seed: int) -> dict[str, NDArray[Any]]:
        """Q, K and V with standard normal elements."""
        generator = np.random.Generator(np.random.PCG64(seed))
        return {o.role: generator.standard_normal(o.dims, dtype=np.float32) for o in problem.operands if not o.output}

    def reference(self, problem: Problem, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """Attention in double precision. A query that sees no key yields zeros."""
        fields = problem.fields
        batch, heads, key_heads = (int(fields[name]) for name in ("batch", "num_query_heads", "num_kv_heads"))
        q, k, v = (inputs[role].astype(np.float64) for role in ("q", "k", "v"))
        grouped = q.reshape(batch, key_heads, heads // key_heads, *q.shape[2:])
        scores = float(fields["scale"]) * np.matmul(grouped, k[:, :, None].swapaxes(-1, -2))
        if fields["causal"]:
            keys = np.arange(int(fields["seqlen_kv"]))
            scores[..., keys >= _visible_keys(fields)[:, None]] = -np.inf
        highest = scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores - np.where(np.isfinite(highest), highest, 0.0))
        total = weights.sum(axis=-1, keepdims=True)
        outputs = np.matmul(weights / np.where(total > 0, total, 1.0), v[:, :, None])
        return {"o": outputs.reshape(q.shape)}

    def tolerance(self, problem: Problem) -> tuple[float, float]:
        """(rtol, atol) for `inputs`, where any order of adding is right.

        With σ = scale·sqrt(head size), the size of the scores, and u = 2^-24: a score's partial sums grow to σ, which
        costs u·σ·sqrt(head size / 6), and the score's distance from the maximum, up to about 10·σ, is rounded once, so
        a weight is off by about u·(σ·(10 + sqrt(head size / 6)) + 2) of itself, the polynomial included. Adding up
        the values of all keys costs u·sqrt(keys / 6) of results that are about 1 or less. The atol is three times
        and more of each; a key that is seen although it is masked changes results by about 1/keys.
        """
        size, keys = int(problem.fields["head_size"]), int(problem.fields["seqlen_kv"])
        sigma = float(problem.fields["scale"]) * math.sqrt(size)
        return 1e-5, UNIT_ROUNDOFF * (8 + sigma * (32 + 2 * math.sqrt(size)) + 4 * math.sqrt(keys))

    def score(self, metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
        """Predicted operations per nanosecond of a kernel on a problem; larger is better."""
        return predicted_gflops(metadata, fields)


ADAPTER = AttentionAdapter()


def _sizes(q: Operand, k: Operand, v: Operand, o: Operand) -> dict[str, int]:
    """The sizes by name, of operands whose dims fit together."""
    for tensor in (q, k, v, o):
        if len(tensor.dims) != 4:
            raise Declined(
                f"{tensor.role} has rank {len(tensor.dims)}; the kernels take batch, head, sequence, element"
            )
        if not runs_at(tensor.dims[3], tensor.strides[3], 1):
            raise Declined(f"{tensor.role} is not contiguous along the head (stride {tensor.strides[3]})")
    batch, heads, seqlen_q, head_size = q.dims
    _, key_heads, seqlen_kv, _ = k.dims
    if v.dims[3] != head_size:
        raise Declined(f"heads of {head_size} elements in q and {v.dims[3]} in v; the kernels take one head size")
    if o.dims != q.dims or k.dims != (batch, key_heads, seqlen_kv, head_size) or v.dims != k.dims:
        shown = ", ".join(f"{tensor.role} {list(tensor.dims)}" for tensor in (q, k, v, o))
        raise Declined(f"dims do not fit together: {shown}")
    if heads % key_heads:
        raise Declined(f"{heads} query heads are not a multiple of {key_heads} key heads")
    if max(q.dims + k.dims) > INT32_MAX or seqlen_q + seqlen_kv > INT32_MAX:
        raise Declined(f"a size is above {INT32_MAX}")
    return {
        "batch": batch,
        "num_query_heads": heads,
        "num_kv_heads": key_heads,
        "seqlen_q": seqlen_q,
        "seqlen_kv": seqlen_kv,
        "head_size": head_size,
    }


def _visible_keys(fields: Mapping[str, Field]) -> NDArray[np.int64]:
    """How many keys each query sees under a causal mask."""
    queries, keys = int(fields["seqlen_q"]), int(fields["seqlen_kv"])
    return np.clip(np.arange(queries) + int(fields["causal_offset"]) + 1, 0, keys)
