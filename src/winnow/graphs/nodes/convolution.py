"""Convolution: forward, and the two that go back to data and weights."""

from __future__ import annotations

from typing import Literal

from winnow.graphs.kinds import NodeKind
from winnow.strict.schema import StrictModel


class ConvolutionOptions(StrictModel):
    """`parameters` of the three convolutions."""

    conv_mode: Literal["UNSET", "CONVOLUTION", "CROSS_CORRELATION"]
    pre_padding: list[int]
    post_padding: list[int]
    stride: list[int]
    dilation: list[int]


FORWARD = NodeKind(
    "ConvolutionFwdAttributes",
    inputs=("x", "w"),
    outputs=("y",),
    options_at="parameters",
    options=ConvolutionOptions,
)

# Early files spell the backward convolutions as other libraries do.
BACKWARD_DATA = NodeKind(
    "ConvolutionBwdAttributes",
    inputs=("dy", "w"),
    outputs=("dx",),
    options_at="parameters",
    options=ConvolutionOptions,
    aliases=("ConvolutionDgradAttributes",),
)
BACKWARD_WEIGHTS = NodeKind(
    "ConvolutionWrwAttributes",
    inputs=("x", "dy"),
    outputs=("dw",),
    options_at="parameters",
    options=ConvolutionOptions,
    aliases=("ConvolutionWgradAttributes",),
)
