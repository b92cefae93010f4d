"""Dense attention forward: a workgroup owns BLOCK_M queries of one head and meets BLOCK_N keys at a time."""

import triton
import triton.language as tl


@triton.jit
def attention_dense(
    q,
    k,
    v,
    o,
    scale,
    batch,
    seqlen_q,
    seqlen_kv,
    QUERY_HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Tensors are batch, sequence, head, element without gaps. A causal mask ends at the last query and key."""
    Q_STRIDE: tl.constexpr = QUERY_HEADS * HEAD_SIZE
    KV_STRIDE: tl.constexpr = KV_HEADS * HEAD_SIZE
    start = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    kv_head = head // (QUERY_HEADS // KV_HEADS)
    sequence = tl.program_id(2).to(tl.int64)
    q_head = q + sequence * seqlen_q * Q_STRIDE + head * HEAD_SIZE
    o_head = o + sequence * seqlen_q * Q_STRIDE + head * HEAD_SIZE
    k_head = k + sequence * seqlen_kv * KV_STRIDE + kv_head * HEAD_SIZE
    v_head = v + sequence * seqlen_kv * KV_STRIDE + kv_head * HEAD_SIZE

    rows = start + tl.arange(0, BLOCK_M)
    elements = tl.arange(0, HEAD_SIZE)
    at = rows[:, None] * Q_STRIDE + elements[None, :]
    query = tl.load(q_head + at, mask=rows[:, None] < seqlen_q, other=0.0)
    # Weights are powers of two: one instruction each.
    log2_scale = scale * 1.4426950408889634

    last_key = seqlen_kv - 1
    if CAUSAL:
        diagonal = seqlen_kv - seqlen_q
        last_seen = tl.minimum(rows + diagonal, last_key)
        seen_by_all = tl.minimum(start + diagonal + 1, seqlen_kv)
        seen_by_any = tl.minimum(start + diagonal + BLOCK_M, seqlen_kv)
    else:
        last_seen = tl.zeros([BLOCK_M], dtype=tl.int32) + last_key
        seen_by_all = seqlen_kv
        seen_by_any = seqlen_kv

    total = tl.zeros([BLOCK_M, HEAD_SIZE], dtype=tl.float32)
    weights = tl.zeros([BLOCK_M], dtype=tl.float32)
    highest = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    for first in range(0, seen_by_any, BLOCK_N):
        keys = first + tl.arange(0, BLOCK_N)
        # Behind the last key it is read again: its scores are masked below, and no load needs a mask.
        there = tl.minimum(keys, last_key)
        key = tl.load(k_head + there[None, :] * KV_STRIDE + elements[:, None])
        scores = tl.dot(query, key) * log2_scale
        if first + BLOCK_N > seen_by_all:
            scores = tl.where(keys[None, :] <= last_seen[:, None], scores, float("-inf"))
        raised = tl.maximum(highest, tl.max(scores, 1))
        # A query that has seen no key yet gets zeros as weights, not NaN.
        base = tl.where(raised == float("-inf"), 0.0, raised)
        weight = tl.math.exp2(scores - base[:, None])
        faded = tl.math.exp2(highest - base)
        weights = weights * faded + tl.sum(weight, 1)
        value = tl.load(v_head + there[:, None] * KV_STRIDE + elements[None, :])
        total = tl.dot(weight.to(value.dtype), value, total * faded[:, None])
        highest = raised

    result = total / tl.where(weights > 0, weights, 1.0)[:, None]
    tl.store(o_head + at, result.to(o.dtype.element_ty), mask=rows[:, None] < seqlen_q)
