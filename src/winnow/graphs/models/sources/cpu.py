"""Which layers at which sizes the two built-in corpora hold: one call a graph, each of at most about 0.3 GFLOP."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from winnow.graphs.model import Graph
from winnow.graphs.models.layers import attention, context, linear, scores


def gemm_corpus() -> tuple[Graph, ...]:
    """Matrix products: decode (few rows), prefill and encoder (many rows), and the two products in attention."""
    return (
        linear("llama3_8b", "q_proj", "decode", 1),
        linear("llama3_8b", "k_proj", "decode", 1),
        linear("llama3_8b", "gate_proj", "decode", 4, shards=4, note="4 draft tokens verified at once"),
        linear("llama3_8b", "down_proj", "decode", 1, shards=8),
        linear("llama3_8b", "down_proj", "prefill", 16, shards=8),
        linear("mistral_7b", "lm_head", "decode", 1, shards=8),
        linear("mistral_7b", "q_proj", "prefill", 17, shards=8),
        linear("mistral_7b", "o_proj", "decode", 8, shards=8, note="8 sequences"),
        linear("qwen2_7b", "q_proj", "decode", 1),
        linear("qwen2_7b", "k_proj", "decode", 8, note="8 sequences"),
        linear("qwen2_7b", "gate_proj", "decode", 4, shards=8, note="4 sequences"),
        linear("qwen2_0_5b", "q_proj", "decode", 1),
        linear("qwen2_0_5b", "k_proj", "prefill", 128),
        linear("qwen2_0_5b", "gate_proj", "prefill", 16),
        linear("qwen2_0_5b", "down_proj", "decode", 8, note="8 sequences"),
        linear("bert_base", "query", "encode", 128),
        linear("bert_base", "intermediate", "encode", 32),
        scores("bert_base", "encode", 128),
        context("bert_base", "encode", 128),
        linear("gpt2", "c_attn", "prefill", 64),
        linear("gpt2", "mlp_c_fc", "decode", 1),
        linear("gpt2", "mlp_c_proj", "prefill", 16),
        linear("gpt2", "lm_head", "decode", 1),
        linear("vit_b16", "query", "encode", 197),
        linear("vit_b16", "classifier", "encode", 8, note="8 images"),
        context("vit_l16", "encode", 577, shards=4),
        linear("whisper_base", "q_proj", "encode", 1500, shards=8),
        linear("whisper_small", "fc1", "decode", 5, note="5 beams"),
    )


def attention_corpus() -> tuple[Graph, ...]:
    """Attention: causal prefill, chunked prefill, decode from a cache, encoders, and cross attention."""
    return (
        attention("llama3_8b", "prefill", 128, 128, mask="causal"),
        attention("llama3_8b", "prefill", 512, 512, mask="causal", shards=8),
        attention("llama3_8b", "decode", 1, 128, mask="none", cache="bhsd", capacity=2048),
        attention("llama3_8b", "decode", 1, 4096, mask="none", cache="bhsd", capacity=8192),
        attention("llama3_8b", "decode", 1, 1024, mask="none", batch=4, cache="bshd", capacity=2048),
        attention(
            "llama3_8b",
            "verify",
            4,
            2052,
            mask="bottom_right",
            cache="bhsd",
            capacity=4096,
            note="4 draft tokens verified at once",
        ),
        attention("mistral_7b", "prefill", 192, 192, mask="causal", shards=2),
        attention("mistral_7b", "chunked_prefill", 64, 320, mask="bottom_right", shards=4, cache="bshd", capacity=4096),
        attention("mistral_7b", "decode", 1, 333, mask="none", cache="bshd", capacity=4096),
        attention("qwen2_7b", "prefill", 128, 128, mask="causal"),
        attention("qwen2_7b", "chunked_prefill", 100, 356, mask="bottom_right", shards=4),
        attention("qwen2_7b", "decode", 1, 2048, mask="none", cache="bhsd", capacity=4096),
        attention("qwen2_0_5b", "prefill", 200, 200, mask="causal"),
        attention("qwen2_0_5b", "decode", 1, 1000, mask="none", cache="bshd", capacity=1024),
        attention("gpt2", "prefill", 256, 256, mask="causal", layout="fused"),
        attention("gpt2", "decode", 1, 512, mask="none", cache="bhsd"),
        attention("bert_base", "encode", 128, 128, mask="none", layout="bhsd"),
        attention("bert_base", "encode", 384, 384, mask="none", shards=3),
        attention("vit_b16", "encode", 197, 197, mask="none", layout="fused"),
        attention("vit_l16", "encode", 577, 577, mask="none", shards=8),
        attention(
            "whisper_base",
            "encode",
            375,
            1500,
            mask="none",
            shards=8,
            layout="bhsd",
            cut="tensor parallel 8: 1 of 8 heads; context parallel 4: 375 of 1500 query frames",
        ),
        attention("whisper_base", "prefill", 28, 1500, mask="none", layer="cross_attention"),
        attention(
            "whisper_small",
            "decode",
            1,
            1500,
            mask="none",
            layer="cross_attention",
            batch=5,
            cache="bhsd",
            note="5 beams",
        ),
    )


CORPORA: Mapping[str, Callable[[], tuple[Graph, ...]]] = {
    "gemm_cpu": gemm_corpus,
    "attention_cpu": attention_corpus,
}
