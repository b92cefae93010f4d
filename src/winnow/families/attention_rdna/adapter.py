"""The RDNA attention family's side of a graph: an SDPA node as a problem, its inputs, its true result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.dtypes import FORMATS
from winnow.families.adapter import Field, Problem
from winnow.families.attention.mask import refuse_options
from winnow.families.attention_rdna.abi import FAMILY
from winnow.families.attention_rdna.band import band_of
from winnow.families.attention_rdna.cells import MASKS
from winnow.families.attention_rdna.probes import probe_graphs
from winnow.families.attention_rdna.request import RdnaAttentionRequest
from winnow.families.attention_rdna.score import predicted_merit
from winnow.families.attention_rdna.tensors import BIAS, KERNEL_TYPES, ROLES, read_operands, sizes, stride_fields
from winnow.families.halves import representable
from winnow.families.operands import refuse_others, single_node
from winnow.graphs.model import Graph

_FP32_ROUNDOFF = 2.0**-24
_DTYPES = {"half": "HALF", "bfloat16": "BFLOAT16"}
_BIASES = {"NONE": "none", "FLOAT": "fp32", "SAME": "same"}
"""What a problem says of its bias, and what a cell calls it."""


class RdnaAttentionAdapter:
    """Serves one SdpaAttributes node over fp16 or bf16 tensors of dims batch, head, sequence, element."""

    name = FAMILY
    vocabulary: Mapping[str, frozenset[str]] = MappingProxyType(
        {"dtype": frozenset(_DTYPES.values()), "bias": frozenset(_BIASES)}
    )

    def problem(self, graph: Graph) -> Problem:
        """The attention that the graph asks for. Raises Declined with the reason when no kernel computes it.

        The field `mask` is the place of the mask among `MASKS`: a kernel serves those up to its own. `head_granule`
        divides both head widths, so that an exact kernel's width divides it for no other widths than its own.
        """
        node = single_node(graph, "SdpaAttributes")
        refuse_others(node, (*ROLES, BIAS))
        refuse_options(node.options, served=frozenset({"left_bound"}))
        operands = read_operands(graph, node)
        lengths = sizes(*operands[:4])
        mask, low, high = band_of(node.options, lengths["seqlen_q"], lengths["seqlen_kv"])
        scale = node.options.get("attn_scale_value")
        q_type = operands[0].data_type
        fields: dict[str, Field] = {
            "dtype": _DTYPES[q_type],
            **lengths,
            "mask": MASKS.index(mask),
            "band_low": low,
            "band_high": high,
            "bias": "NONE" if len(operands) == 4 else "SAME" if operands[4].data_type == q_type else "FLOAT",
            "scale": 1 / math.sqrt(lengths["head_size_qk"]) if scale is None else float(scale),
            **stride_fields(operands),
        }
        pairs = int(_visible(fields).sum()) * lengths["batch"] * lengths["num_query_heads"]
        return Problem(fields, operands, 2 * pairs * (lengths["head_size_qk"] + lengths["head_size_v"]))

    def request(self, problem: Problem, arch: str) -> RdnaAttentionRequest:
        """The registry request that the problem is."""
        fields = problem.fields
        names = ("num_query_heads", "num_k_heads", "num_v_heads", "seqlen_q", "seqlen_kv", "batch")
        lengths: dict[str, Any] = {name: int(fields[name]) for name in names}
        return RdnaAttentionRequest(
            arch=arch,
            dtype=KERNEL_TYPES[problem.operands[0].data_type],
            head_size_qk=int(fields["head_size_qk"]),
            head_size_v=int(fields["head_size_v"]),
            mask=MASKS[int(fields["mask"])],
            bias=_BIASES[str(fields["bias"])],
            **lengths,
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
        heads = int(fields["num_query_heads"])
        q, k, v = (inputs[role].astype(np.float64) for role in ("q", "k", "v"))
        k, v = (np.repeat(tensor, heads // tensor.shape[1], axis=1) for tensor in (k, v))
        scores = float(fields["scale"]) * np.matmul(q, k.swapaxes(-1, -2))
        if BIAS in inputs:
            scores = scores + inputs[BIAS].astype(np.float64)
        scores = np.where(_visible(fields), scores, -np.inf)
        highest = scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores - np.where(np.isfinite(highest), highest, 0.0))
        total = weights.sum(axis=-1, keepdims=True)
        return {"o": np.matmul(weights / np.where(total > 0, total, 1.0), v)}

    def tolerance(self, problem: Problem) -> tuple[float, float]:
        """(rtol, atol) for `inputs`, where any order of adding is right.

        Two roundings to the tensors' type, of the weights and of the result, are each off by at most its unit
        roundoff u. Errors of the weights add up to u times an average of |V|, which is 4 at most. To that comes
        fp32: with σ = scale·sqrt(head size), scores are off by about 2^-24·σ·(10 + sqrt(head size / 6)).
        """
        size, keys = int(problem.fields["head_size_qk"]), int(problem.fields["seqlen_kv"])
        sigma = float(problem.fields["scale"]) * math.sqrt(size)
        u = FORMATS[problem.operands[0].data_type].unit_roundoff
        return 2 * u, 4 * u + _FP32_ROUNDOFF * (8 + sigma * (32 + 2 * math.sqrt(size)) + 4 * math.sqrt(keys))

    def score(self, metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
        """The place of a kernel among those that serve a problem; larger is better."""
        return predicted_merit(metadata, fields)

    def probes(self, metadata: Mapping[str, Field]) -> tuple[Graph, ...]:
        """Small graphs that a kernel with this metadata serves and that meet all that it does."""
        return probe_graphs(metadata)


ADAPTER = RdnaAttentionAdapter()


def _visible(fields: Mapping[str, Field]) -> NDArray[np.bool_]:
    """Which key each query sees: rows are queries."""
    queries, keys = np.arange(int(fields["seqlen_q"]))[:, None], np.arange(int(fields["seqlen_kv"]))[None, :]
    above = keys >= queries + int(fields["band_low"])
    return np.asarray(above & (keys <= queries + int(fields["band_high"])))
