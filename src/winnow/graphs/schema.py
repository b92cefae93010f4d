"""What a graph file may say, as pydantic models: keys, types and the sections of each node type."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, FiniteFloat, create_model

from winnow.graphs.kinds import KINDS, TENSOR_SUFFIX
from winnow.strict.schema import StrictModel


class TensorFile(StrictModel):
    """One entry of `tensors`."""

    uid: int
    name: str
    dims: list[int]
    strides: list[int]
    data_type: str
    virtual: bool
    value_type: str | None = None
    value: Any = None
    alignment: int | None = Field(default=None, gt=0)
    is_runtime_pass_by_value: bool = False
    ragged_offset_tensor_uid: int | None = None


class NodeFile(StrictModel):
    """One entry of `nodes`; what its sections may hold depends on its type (`SECTIONS`)."""

    name: str
    type: str
    compute_data_type: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    attributes: dict[str, Any] | None = None
    parameters: dict[str, Any] | None = None


class GraphFile(StrictModel):
    """A whole graph file, without the annotations (keys that start with `_`)."""

    name: str
    compute_data_type: str
    io_data_type: str
    intermediate_data_type: str
    preferred_engine_id: int | None = None
    id: str | None = None
    is_override_shape_enabled: bool = False
    tensors: list[TensorFile]
    nodes: list[NodeFile]


class SdpaOptions(StrictModel):
    """`attributes` of attention."""

    generate_stats: bool | None = None
    alibi_mask: bool = False
    padding_mask: bool = False
    causal_mask: bool = False
    causal_mask_bottom_right: bool = False
    dropout_probability: FiniteFloat | None = None
    attn_scale_value: FiniteFloat | None = None
    left_bound: int | None = None
    right_bound: int | None = None
    max_seq_len_kv: int | None = None
    diagonal_alignment: Literal["TOP_LEFT", "BOTTOM_RIGHT"] = "TOP_LEFT"
    mma_core_mode: str = "UNSET"
    implementation: Literal["AUTO", "COMPOSITE", "UNIFIED"] = "AUTO"


class ConvolutionOptions(StrictModel):
    """`parameters` of the three convolutions."""

    conv_mode: Literal["UNSET", "CONVOLUTION", "CROSS_CORRELATION"]
    pre_padding: list[int]
    post_padding: list[int]
    stride: list[int]
    dilation: list[int]


class PointwiseOptions(StrictModel):
    """Options of an elementwise operation, which stand among its `inputs`."""

    operation: str
    relu_lower_clip: FiniteFloat | None = None
    relu_upper_clip: FiniteFloat | None = None
    relu_lower_clip_slope: FiniteFloat | None = None
    swish_beta: FiniteFloat | None = None
    elu_alpha: FiniteFloat | None = None
    softplus_beta: FiniteFloat | None = None


_OPTIONS: dict[str, type[StrictModel]] = {
    "SdpaAttributes": SdpaOptions,
    "ConvolutionFwdAttributes": ConvolutionOptions,
    "ConvolutionBwdAttributes": ConvolutionOptions,
    "ConvolutionWrwAttributes": ConvolutionOptions,
    "PointwiseAttributes": PointwiseOptions,
}


def _references(
    name: str, required: tuple[str, ...], optional: tuple[str, ...], base: type[StrictModel]
) -> type[StrictModel]:
    fields: dict[str, Any] = {role + TENSOR_SUFFIX: (int, ...) for role in required}
    fields |= {role + TENSOR_SUFFIX: (int | None, None) for role in optional}
    return create_model(name, __base__=base, **fields)


def _sections(node_type: str) -> dict[str, type[StrictModel]]:
    kind = KINDS[node_type]
    options = _OPTIONS.get(node_type, StrictModel)
    base = options if kind.options_at == "inputs" else StrictModel
    sections = {
        "inputs": _references(f"{node_type}Inputs", kind.inputs, kind.optional_inputs, base),
        "outputs": _references(f"{node_type}Outputs", kind.outputs, kind.optional_outputs, StrictModel),
    }
    if kind.options_at is not None and kind.options_at != "inputs":
        sections[kind.options_at] = options
    return sections


# For each node type, the model of each section that it may have.
SECTIONS: dict[str, dict[str, type[StrictModel]]] = {name: _sections(name) for name in KINDS}
