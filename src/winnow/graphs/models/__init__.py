"""Published model configurations, the graphs of their layers, and the corpora that the built-in engines carry."""

from winnow.graphs.models.corpora import CORPORA, attention_corpus, gemm_corpus
from winnow.graphs.models.layers import attention, context, linear, scores
from winnow.graphs.models.table import MODELS, Linear, Model

__all__ = [
    "CORPORA",
    "MODELS",
    "Linear",
    "Model",
    "attention",
    "attention_corpus",
    "context",
    "gemm_corpus",
    "linear",
    "scores",
]
