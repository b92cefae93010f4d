"""Elementwise operations."""

from __future__ import annotations

from pydantic import FiniteFloat

from winnow.graphs.kinds import NodeKind
from winnow.strict.schema import StrictModel


class PointwiseOptions(StrictModel):
    """Options of an elementwise operation, which stand among its `inputs`."""

    operation: str
    relu_lower_clip: FiniteFloat | None = None
    relu_upper_clip: FiniteFloat | None = None
    relu_lower_clip_slope: FiniteFloat | None = None
    swish_beta: FiniteFloat | None = None
    elu_alpha: FiniteFloat | None = None
    softplus_beta: FiniteFloat | None = None


POINTWISE = NodeKind(
    "PointwiseAttributes",
    inputs=("in_0",),
    outputs=("out_0",),
    optional_inputs=("in_1", "in_2", "axis"),
    options_at="inputs",
    options=PointwiseOptions,
)
