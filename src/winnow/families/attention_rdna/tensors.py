"""The tensors of an SDPA node as the RDNA kernels take them, or a reason to decline."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from winnow.families.adapter import Declined, Operand
from winnow.families.attention_rdna.abi import ALIGNMENT, BLOCK_LIMIT, MAX_STRIDE
from winnow.families.attention_rdna.cells import WIDEST, WIDTH_STEP
from winnow.families.cpu import INT32_MAX
from winnow.families.operands import overlaps
from winnow.graphs.model import Graph, Node

ROLES = ("q", "k", "v", "o")
BIAS = "attn_mask"

KERNEL_TYPES: Mapping[str, str] = MappingProxyType({"half": "fp16", "bfloat16": "bf16"})
"""Types of Q by the graph's name, as specs name them."""


def read_operands(graph: Graph, node: Node) -> tuple[Operand, ...]:
    """Q, K, V and O, and the bias where there is one. Raises Declined when no kernel takes one of them."""
    q, k, v, o = (_dense(graph, node, role) for role in ROLES)
    if q.data_type not in KERNEL_TYPES:
        raise Declined(f"q is of type {q.data_type}; the kernels take {' and '.join(KERNEL_TYPES)}")
    for tensor in (k, v, o):
        if tensor.data_type != q.data_type:
            raise Declined(f"{tensor.role} is of type {tensor.data_type}, q of {q.data_type}; the kernels take one")
    if node.inputs.get(BIAS) is None:
        return q, k, v, o
    return q, k, v, o, _bias(graph, node, q, k)


def sizes(q: Operand, k: Operand, v: Operand, o: Operand) -> dict[str, int]:
    """The sizes by name, of operands whose dims fit together. Raises Declined when they do not."""
    batch, heads, seqlen_q, head_size_qk = q.dims
    _, k_heads, seqlen_kv, _ = k.dims
    _, v_heads, _, head_size_v = v.dims
    fitting = (
        k.dims == (batch, k_heads, seqlen_kv, head_size_qk)
        and v.dims == (batch, v_heads, seqlen_kv, head_size_v)
        and o.dims == (batch, heads, seqlen_q, head_size_v)
    )
    if not fitting:
        shown = ", ".join(f"{tensor.role} {list(tensor.dims)}" for tensor in (q, k, v, o))
        raise Declined(f"dims do not fit together: {shown}")
    for role, count in (("k", k_heads), ("v", v_heads)):
        if heads % count:
            raise Declined(f"{heads} query heads are not a multiple of {count} heads of {role}")
    for role, size in (("q and k", head_size_qk), ("v", head_size_v)):
        if size % WIDTH_STEP or size > WIDEST:
            raise Declined(
                f"heads of {size} elements in {role}; the kernels take multiples of {WIDTH_STEP} up to {WIDEST}"
            )
    if seqlen_q + seqlen_kv > INT32_MAX - BLOCK_LIMIT:
        raise Declined(f"{seqlen_q} queries and {seqlen_kv} keys; the kernels count both in 32 bits")
    return {
        "batch": batch,
        "num_query_heads": heads,
        "num_k_heads": k_heads,
        "num_v_heads": v_heads,
        "seqlen_q": seqlen_q,
        "seqlen_kv": seqlen_kv,
        "head_size_qk": head_size_qk,
        "head_size_v": head_size_v,
        "head_granule": math.gcd(head_size_qk, head_size_v),
    }


def stride_fields(operands: tuple[Operand, ...]) -> dict[str, int]:
    """Every stride by the name of its argument. The stride of a dim of one element has no meaning: it is 0."""
    fields: dict[str, int] = {}
    for tensor in operands:
        letter, dims = ("m", "bhqk") if tensor.role == BIAS else (tensor.role, "bhsd")
        for dim, size, stride in zip(dims, tensor.dims, tensor.strides, strict=True):
            fields[f"stride_{letter}{dim}"] = stride if size > 1 else 0
    return fields


def _tensor(graph: Graph, node: Node, role: str) -> Operand:
    output = role in node.outputs
    uid = (node.outputs if output else node.inputs).get(role)
    if uid is None:
        raise Declined(f"there is no tensor {role}")
    tensor = graph.tensor(uid)
    if tensor.virtual:
        raise Declined(f"{role} is virtual: it has no memory")
    if tensor.value is not None:
        raise Declined(f"{role} is a constant")
    if len(tensor.dims) != 4:
        raise Declined(f"{role} has rank {len(tensor.dims)}; the kernels take rank 4")
    if min(tensor.dims) < 1:
        raise Declined(f"{role} has no elements (dims {list(tensor.dims)})")
    for dim, size, stride in zip("23", tensor.dims[2:], tensor.strides[2:], strict=True):
        if size > 1 and not 0 <= stride <= MAX_STRIDE:
            raise Declined(f"stride {stride} of dim {dim} of {role}; the kernels take 0 to {MAX_STRIDE}")
    if tensor.alignment is not None and tensor.alignment % ALIGNMENT:
        raise Declined(f"{role} starts at a multiple of {tensor.alignment} bytes; the kernels need {ALIGNMENT}")
    return Operand(role, uid, tensor.dims, tensor.strides, tensor.data_type, output)


def _dense(graph: Graph, node: Node, role: str) -> Operand:
    tensor = _tensor(graph, node, role)
    if overlaps(tensor.dims, tensor.strides):
        raise Declined(f"elements of {role} share memory (dims {list(tensor.dims)}, strides {list(tensor.strides)})")
    return tensor


def _bias(graph: Graph, node: Node, q: Operand, k: Operand) -> Operand:
    """The bias with one stride a dim of the scores: 0 where one element stands for all."""
    tensor = _tensor(graph, node, BIAS)
    if tensor.data_type not in ("float", q.data_type):
        raise Declined(f"{BIAS} is of type {tensor.data_type}; the kernels add float or {q.data_type}")
    scores = (*q.dims[:3], k.dims[2])
    for dim, wanted in zip(tensor.dims, scores, strict=True):
        if dim not in (1, wanted):
            raise Declined(f"{BIAS} has dims {list(tensor.dims)}, the scores {list(scores)}: it cannot be repeated")
    return tensor
