"""Published model configurations, the graphs of their layers, and the corpora that the built-in engines carry."""

from winnow.graphs.models.layers import attention, context, linear, scores
from winnow.graphs.models.table import MODELS, Linear, Model

__all__ = [
    "MODELS",
    "Linear",
    "Model",
    "attention",
    "context",
    "linear",
    "scores",
]
