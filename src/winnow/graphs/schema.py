"""What a graph file may say, as pydantic models: keys, types and the sections of each node type."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import Field, create_model

from winnow.graphs.kinds import TENSOR_SUFFIX, NodeKind
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


def _references(
    name: str, required: tuple[str, ...], optional: tuple[str, ...], base: type[StrictModel]
) -> type[StrictModel]:
    fields: dict[str, Any] = {role + TENSOR_SUFFIX: (int, ...) for role in required}
    fields |= {role + TENSOR_SUFFIX: (int | None, None) for role in optional}
    return create_model(name, __base__=base, **fields)


@cache
def sections_of(kind: NodeKind) -> dict[str, type[StrictModel]]:
    """The model of each section that a node of this kind may have."""
    options = kind.options or StrictModel
    base = options if kind.options_at == "inputs" else StrictModel
    sections = {
        "inputs": _references(f"{kind.name}Inputs", kind.inputs, kind.optional_inputs, base),
        "outputs": _references(f"{kind.name}Outputs", kind.outputs, kind.optional_outputs, StrictModel),
    }
    if kind.options_at is not None and kind.options_at != "inputs":
        sections[kind.options_at] = options
    return sections
