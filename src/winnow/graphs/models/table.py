"""The table of published model configurations: widths, heads, and how each stores its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Linear:
    """One weight matrix of a layer: `out` and `in_` name the fields of `Model` that are its sizes.

    `split` is the side that tensor parallelism divides. A Linear weight is stored [out, in], so that the
    product reads its columns contiguously; `conv1d` weights (GPT-2's) are stored [in, out].
    """

    path: str
    out: str
    in_: str
    split: Literal["out", "in"]
    conv1d: bool = False


@dataclass(frozen=True)
class Architecture:
    """The layers that models of one design share: weight matrices, and attention layers by their path."""

    linears: Mapping[str, Linear]
    attention: Mapping[str, str]


_DECODER = Architecture(
    {
        "q_proj": Linear("self_attn.q_proj", "q_width", "hidden", "out"),
        "k_proj": Linear("self_attn.k_proj", "kv_width", "hidden", "out"),
        "v_proj": Linear("self_attn.v_proj", "kv_width", "hidden", "out"),
        "o_proj": Linear("self_attn.o_proj", "hidden", "q_width", "in"),
        "gate_proj": Linear("mlp.gate_proj", "ffn", "hidden", "out"),
        "up_proj": Linear("mlp.up_proj", "ffn", "hidden", "out"),
        "down_proj": Linear("mlp.down_proj", "hidden", "ffn", "in"),
        "lm_head": Linear("lm_head", "outputs", "hidden", "out"),
    },
    attention={"attention": "self_attn"},
)

_GPT2 = Architecture(
    {
        "c_attn": Linear("attn.c_attn", "qkv_width", "hidden", "out", conv1d=True),
        "c_proj": Linear("attn.c_proj", "hidden", "q_width", "in", conv1d=True),
        "mlp_c_fc": Linear("mlp.c_fc", "ffn", "hidden", "out", conv1d=True),
        "mlp_c_proj": Linear("mlp.c_proj", "hidden", "ffn", "in", conv1d=True),
        "lm_head": Linear("lm_head", "outputs", "hidden", "out"),
    },
    attention={"attention": "attn"},
)

_BERT = Architecture(
    {
        "query": Linear("attention.self.query", "q_width", "hidden", "out"),
        "key": Linear("attention.self.key", "kv_width", "hidden", "out"),
        "value": Linear("attention.self.value", "kv_width", "hidden", "out"),
        "attention_output": Linear("attention.output.dense", "hidden", "q_width", "in"),
        "intermediate": Linear("intermediate.dense", "ffn", "hidden", "out"),
        "output": Linear("output.dense", "hidden", "ffn", "in"),
    },
    attention={"attention": "attention.self"},
)

_VIT = Architecture(
    {
        "query": Linear("attention.attention.query", "q_width", "hidden", "out"),
        "key": Linear("attention.attention.key", "kv_width", "hidden", "out"),
        "value": Linear("attention.attention.value", "kv_width", "hidden", "out"),
        "attention_output": Linear("attention.output.dense", "hidden", "q_width", "in"),
        "intermediate": Linear("intermediate.dense", "ffn", "hidden", "out"),
        "output": Linear("output.dense", "hidden", "ffn", "in"),
        "classifier": Linear("classifier", "outputs", "hidden", "out"),
    },
    attention={"attention": "attention.attention"},
)

_WHISPER = Architecture(
    {
        "q_proj": Linear("self_attn.q_proj", "q_width", "hidden", "out"),
        "k_proj": Linear("self_attn.k_proj", "kv_width", "hidden", "out"),
        "v_proj": Linear("self_attn.v_proj", "kv_width", "hidden", "out"),
        "out_proj": Linear("self_attn.out_proj", "hidden", "q_width", "in"),
        "fc1": Linear("fc1", "ffn", "hidden", "out"),
        "fc2": Linear("fc2", "hidden", "ffn", "in"),
        "proj_out": Linear("proj_out", "outputs", "hidden", "out"),
    },
    attention={"attention": "self_attn", "cross_attention": "encoder_attn"},
)


@dataclass(frozen=True)
class Model:
    """One published configuration. `outputs` is the vocabulary, or the labels of a classifier."""

    name: str
    source: str
    architecture: Architecture
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    ffn: int
    outputs: int
    positions: int

    @property
    def q_width(self) -> int:
        """Features of all query heads together."""
        return self.heads * self.head_size

    @property
    def kv_width(self) -> int:
        """Features of all key heads together (and of all value heads)."""
        return self.kv_heads * self.head_size

    @property
    def qkv_width(self) -> int:
        """Features of a fused projection to queries, keys and values."""
        return self.q_width + 2 * self.kv_width


# fmt: off
_ROWS: tuple[tuple[str, str, str, Architecture, tuple[int, ...]], ...] = (
    # (hidden, layers, heads, key-value heads, head size, feed-forward, outputs, positions)
    ("llama3_8b", "Llama 3 8B", "meta-llama/Meta-Llama-3-8B", _DECODER,
        (4096, 32, 32, 8, 128, 14336, 128256, 8192)),
    ("mistral_7b", "Mistral 7B v0.1", "mistralai/Mistral-7B-v0.1", _DECODER,
        (4096, 32, 32, 8, 128, 14336, 32000, 32768)),
    ("qwen2_7b", "Qwen2 7B", "Qwen/Qwen2-7B", _DECODER,
        (3584, 28, 28, 4, 128, 18944, 152064, 131072)),
    ("qwen2_0_5b", "Qwen2 0.5B", "Qwen/Qwen2-0.5B", _DECODER,
        (896, 24, 14, 2, 64, 4864, 151936, 131072)),
    ("bert_base", "BERT base uncased", "google-bert/bert-base-uncased", _BERT,
        (768, 12, 12, 12, 64, 3072, 30522, 512)),
    ("gpt2", "GPT-2 124M", "openai-community/gpt2", _GPT2,
        (768, 12, 12, 12, 64, 3072, 50257, 1024)),
    ("vit_b16", "ViT-B/16 at 224", "google/vit-base-patch16-224", _VIT,
        (768, 12, 12, 12, 64, 3072, 1000, 197)),
    ("vit_l16", "ViT-L/16 at 384", "google/vit-large-patch16-384", _VIT,
        (1024, 24, 16, 16, 64, 4096, 1000, 577)),
    ("whisper_base", "Whisper base", "openai/whisper-base", _WHISPER,
        (512, 6, 8, 8, 64, 2048, 51865, 1500)),
    ("whisper_small", "Whisper small", "openai/whisper-small", _WHISPER,
        (768, 12, 12, 12, 64, 3072, 51865, 1500)),
)
# fmt: on

MODELS: dict[str, Model] = {
    slug: Model(name, f"config.json of {published}", architecture, *sizes)
    for slug, name, published, architecture, sizes in _ROWS
}
