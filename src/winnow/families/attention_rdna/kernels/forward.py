"""Attention forward whose head widths are arguments: O = softmax(scale · Q·Kᵀ + bias)·V over tiles of keys."""

import triton
import triton.language as tl

MAX_STRIDE: tl.constexpr = tl.constexpr(1 << 21)
"""Largest stride between rows and between columns: offsets inside a tile stay within 32 bits of bytes."""


@triton.jit
def assume_strides(row_stride, column_stride):
    """Both strides are within bounds, so that memory is reached by a base and offsets of 32 bits."""
    tl.assume(row_stride >= 0)
    tl.assume(column_stride >= 0)
    tl.assume(row_stride <= MAX_STRIDE)
    tl.assume(column_stride <= MAX_STRIDE)


@triton.jit
def across(index, FIRST: tl.constexpr):
    """An index along the first or the second axis of a tile."""
    return index[:, None] if FIRST else index[None, :]


@triton.jit
def is_packed(row_stride, column_stride, head_stride, batch_stride):
    """Whether every row starts at a multiple of 16 bytes and is contiguous, so that it can be read in vectors."""
    return (column_stride == 1) & (row_stride % 8 == 0) & (head_stride % 8 == 0) & (batch_stride % 8 == 0)


@triton.jit
def anew(stride, left):
    """The stride, in a form that a compiler works out for each tile: `left` is positive wherever a tile is loaded.

    Kept from tile to tile, the addresses of single elements would fill the registers.
    """
    return tl.minimum(tl.maximum(stride, stride - left), MAX_STRIDE)


@triton.jit
def load_tile(matrix, packed, rows, row_stride, columns, column_stride, left, live):
    """Elements of a matrix in memory; what is not live is an exact zero, whatever memory holds there."""
    if packed:
        tile = tl.load(matrix + (rows * (row_stride // 8 * 8) + columns), mask=live, other=0.0)
    else:
        offsets = rows * anew(row_stride, left) + columns * anew(column_stride, left)
        tile = tl.load(matrix + offsets, mask=live, other=0.0)
    return tile


@triton.jit
def store_tile(matrix, packed, rows, row_stride, columns, column_stride, tile, live):
    if packed:
        tl.store(matrix + (rows * (row_stride // 8 * 8) + columns), tile, mask=live)
    else:
        tl.store(matrix + (rows * row_stride + columns * column_stride), tile, mask=live)


@triton.jit
def head_of(tensor, packed, batch, head, batch_stride, head_stride):
    """Where one head of one batch starts."""
    if packed:
        start = batch * (batch_stride // 8 * 8) + head * (head_stride // 8 * 8)
    else:
        start = batch * batch_stride + head * head_stride
    return tensor + start


@triton.jit
def live_elements(rows, seqlen, columns, width, EXACT: tl.constexpr):
    """Which elements of a tile exist: rows of the sequence, and columns of the head unless all of them do."""
    return (rows < seqlen) & (columns >= 0) if EXACT else (rows < seqlen) & (columns < width)


@triton.jit
def attention_forward(
    q,
    k,
    v,
    o,
    attn_mask,
    scale,
    num_query_heads,
    num_k_heads,
    num_v_heads,
    seqlen_q,
    seqlen_kv,
    head_size_qk,
    head_size_v,
    band_low,
    band_high,
    stride_qb,
    stride_qh,
    stride_qs,
    stride_qd,
    stride_kb,
    stride_kh,
    stride_ks,
    stride_kd,
    stride_vb,
    stride_vh,
    stride_vs,
    stride_vd,
    stride_ob,
    stride_oh,
    stride_os,
    stride_od,
    stride_mb,
    stride_mh,
    stride_mq,
    stride_mk,
    WIDTH: tl.constexpr,
    TAIL: tl.constexpr,
    EXACT: tl.constexpr,
    MASK: tl.constexpr,
    BIAS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    TRANSPOSED: tl.constexpr,
):
    """One tile of BLOCK_M queries of one head meets all keys that it can see, BLOCK_N at a time.

    A head is WIDTH columns and TAIL more (both powers of two, TAIL may be 0). Query i sees key j where
    i + band_low <= j <= i + band_high: MASK 0 ignores both bounds, 1 the lower one, 2 none. Scores lie queries by
    keys, or TRANSPOSED: keys by queries, so that the second product takes weights as the first one leaves them.
    """
    LOG2E: tl.constexpr = 1.4426950408889634
    KEYS: tl.constexpr = 0 if TRANSPOSED else 1
    assume_strides(stride_qs, stride_qd)
    assume_strides(stride_ks, stride_kd)
    assume_strides(stride_vs, stride_vd)
    assume_strides(stride_os, stride_od)
    if BIAS:
        assume_strides(stride_mq, stride_mk)
    first_query = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    batch = tl.program_id(2).to(tl.int64)
    k_head = head // (num_query_heads // num_k_heads)
    v_head = head // (num_query_heads // num_v_heads)
    q_packed = is_packed(stride_qs, stride_qd, stride_qh, stride_qb)
    k_packed = is_packed(stride_ks, stride_kd, stride_kh, stride_kb)
    v_packed = is_packed(stride_vs, stride_vd, stride_vh, stride_vb)
    o_packed = is_packed(stride_os, stride_od, stride_oh, stride_ob)
    q_head = head_of(q, q_packed, batch, head, stride_qb, stride_qh)
    keys_of = head_of(k, k_packed, batch, k_head, stride_kb, stride_kh)
    values_of = head_of(v, v_packed, batch, v_head, stride_vb, stride_vh)
    q_head += first_query * stride_qs.to(tl.int64)

    # Along which axis of its tile each index runs: queries against keys, keys against a head's columns, and so on.
    queries = across(tl.arange(0, BLOCK_M), not TRANSPOSED)
    keys = across(tl.arange(0, BLOCK_N), TRANSPOSED)
    value_keys = across(tl.arange(0, BLOCK_N), not TRANSPOSED)
    q_columns = across(tl.arange(0, WIDTH), TRANSPOSED)
    k_columns = across(tl.arange(0, WIDTH), not TRANSPOSED)
    queries_left = seqlen_q - first_query
    q_tile = load_tile(
        q_head, q_packed, queries, stride_qs, q_columns, stride_qd, queries_left,
        live_elements(queries, queries_left, q_columns, head_size_qk, EXACT),
    )  # fmt: skip
    outputs = tl.zeros([WIDTH, BLOCK_M] if TRANSPOSED else [BLOCK_M, WIDTH], dtype=tl.float32)
    if TAIL > 0:
        q_tail_columns = WIDTH + across(tl.arange(0, TAIL), TRANSPOSED)
        k_tail_columns = WIDTH + across(tl.arange(0, TAIL), not TRANSPOSED)
        q_tail = load_tile(
            q_head, q_packed, queries, stride_qs, q_tail_columns, stride_qd, queries_left,
            live_elements(queries, queries_left, q_tail_columns, head_size_qk, EXACT),
        )  # fmt: skip
        output_tail = tl.zeros([TAIL, BLOCK_M] if TRANSPOSED else [BLOCK_M, TAIL], dtype=tl.float32)

    first_key = 0
    last_key = seqlen_kv
    if MASK > 0:
        last_key = tl.minimum(seqlen_kv, tl.minimum(first_query + BLOCK_M, seqlen_q) + band_high)
    if MASK > 1:
        first_key = tl.maximum(0, first_query + band_low) // BLOCK_N * BLOCK_N
    if BIAS:
        bias_of = attn_mask + (batch * stride_mb + head * stride_mh + first_query * stride_mq.to(tl.int64))

    highest = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    for start in range(first_key, last_key, BLOCK_N):
        keys_left = seqlen_kv - start
        k_block = keys_of + start * stride_ks.to(tl.int64)
        k_tile = load_tile(
            k_block, k_packed, keys, stride_ks, k_columns, stride_kd, keys_left,
            live_elements(keys, keys_left, k_columns, head_size_qk, EXACT),
        )  # fmt: skip
        scores = tl.dot(k_tile, q_tile) if TRANSPOSED else tl.dot(q_tile, k_tile)
        if TAIL > 0:
            k_tail = load_tile(
                k_block, k_packed, keys, stride_ks, k_tail_columns, stride_kd, keys_left,
                live_elements(keys, keys_left, k_tail_columns, head_size_qk, EXACT),
            )  # fmt: skip
            scores = tl.dot(k_tail, q_tail, scores) if TRANSPOSED else tl.dot(q_tail, k_tail, scores)
        scores *= scale * LOG2E
        if BIAS:
            bias_block = bias_of + start * stride_mk.to(tl.int64)
            bias = load_tile(
                bias_block, False, queries, stride_mq, keys, stride_mk, keys_left,
                (queries < queries_left) & (keys < keys_left),
            )  # fmt: skip
            scores += bias.to(tl.float32) * LOG2E
        # Only tiles at an edge hold keys that some query does not see: the branch is the same for all lanes.
        edge = keys_left < BLOCK_N
        if MASK > 0:
            edge |= start + BLOCK_N - 1 > first_query + band_high
        if MASK > 1:
            edge |= start < first_query + BLOCK_M - 1 + band_low
        if edge:
            seen = (keys < keys_left) & (queries >= 0)
            if MASK > 0:
                seen &= start + keys <= first_query + queries + band_high
            if MASK > 1:
                seen &= start + keys >= first_query + queries + band_low
            scores = tl.where(seen, scores, float("-inf"))

        highest_now = tl.maximum(highest, tl.max(scores, axis=KEYS))
        # A query that has seen no key yet has no finite maximum to subtract.
        finite = tl.where(highest_now == float("-inf"), 0.0, highest_now)
        weights = tl.exp2(scores - across(finite, not TRANSPOSED))
        fading = tl.exp2(highest - finite)
        total = total * fading + tl.sum(weights, axis=KEYS)
        highest = highest_now
        weights = weights.to(v.dtype.element_ty)

        v_block = values_of + start * stride_vs.to(tl.int64)
        v_tile = load_tile(
            v_block, v_packed, value_keys, stride_vs, q_columns, stride_vd, keys_left,
            live_elements(value_keys, keys_left, q_columns, head_size_v, EXACT),
        )  # fmt: skip
        outputs *= across(fading, not TRANSPOSED)
        outputs = tl.dot(v_tile, weights, outputs) if TRANSPOSED else tl.dot(weights, v_tile, outputs)
        if TAIL > 0:
            v_tail = load_tile(
                v_block, v_packed, value_keys, stride_vs, q_tail_columns, stride_vd, keys_left,
                live_elements(value_keys, keys_left, q_tail_columns, head_size_v, EXACT),
            )  # fmt: skip
            output_tail *= across(fading, not TRANSPOSED)
            output_tail = tl.dot(v_tail, weights, output_tail) if TRANSPOSED else tl.dot(weights, v_tail, output_tail)

    share = across(1.0 / tl.where(total == 0.0, 1.0, total), not TRANSPOSED)
    o_head = head_of(o, o_packed, batch, head, stride_ob, stride_oh) + first_query * stride_os.to(tl.int64)
    store_tile(
        o_head, o_packed, queries, stride_os, q_columns, stride_od, (outputs * share).to(o.dtype.element_ty),
        live_elements(queries, queries_left, q_columns, head_size_v, EXACT),
    )  # fmt: skip
    if TAIL > 0:
        store_tile(
            o_head, o_packed, queries, stride_os, q_tail_columns, stride_od,
            (output_tail * share).to(o.dtype.element_ty),
            live_elements(queries, queries_left, q_tail_columns, head_size_v, EXACT),
        )  # fmt: skip
