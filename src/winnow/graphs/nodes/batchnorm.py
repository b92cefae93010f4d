"""Batch normalisation with known statistics."""

from __future__ import annotations

from winnow.graphs.kinds import NodeKind

BATCHNORM_INFERENCE = NodeKind(
    "BatchnormInferenceAttributes", inputs=("x", "mean", "inv_variance", "scale", "bias"), outputs=("y",)
)
