"""A hipDNN graph as frozen values, and the identity that says when two graphs pose the same problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from winnow.graphs.kinds import KINDS, TENSOR_SUFFIX
from winnow.identity import canonical_json, sha256_hex


@dataclass(frozen=True)
class Tensor:
    """One tensor: logical dims, strides in elements, data type. `value` is set for a constant only."""

    uid: int
    name: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    data_type: str
    virtual: bool
    value: Any = None
    value_type: str | None = None


@dataclass(frozen=True)
class Node:
    """One operation: tensor roles (without the suffix `_tensor_uid`) to uids, None where a role is left out."""

    name: str
    type: str
    compute_data_type: str
    inputs: Mapping[str, int | None]
    outputs: Mapping[str, int | None]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """One operation graph. `provenance` says which model, layer and phase pose it; it is not part of the problem."""

    name: str
    compute_data_type: str
    io_data_type: str
    intermediate_data_type: str
    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    provenance: Mapping[str, str] = field(default_factory=dict)
    preferred_engine_id: int | None = None

    def tensor(self, uid: int) -> Tensor:
        """The tensor of this uid.

        Raises:
            KeyError: the graph has none.
        """
        for tensor in self.tensors:
            if tensor.uid == uid:
                return tensor
        raise KeyError(uid)


def document(graph: Graph) -> dict[str, Any]:
    """The graph as the plain data of its file, in the order in which keys are written."""
    top: dict[str, Any] = {
        "name": graph.name,
        "compute_data_type": graph.compute_data_type,
        "io_data_type": graph.io_data_type,
        "intermediate_data_type": graph.intermediate_data_type,
    }
    if graph.preferred_engine_id is not None:
        top["preferred_engine_id"] = graph.preferred_engine_id
    top["tensors"] = [_tensor(tensor) for tensor in graph.tensors]
    top["nodes"] = [_node(node) for node in graph.nodes]
    if graph.provenance:
        top["_provenance"] = dict(graph.provenance)
    return top


def _tensor(tensor: Tensor) -> dict[str, Any]:
    data: dict[str, Any] = {
        "uid": tensor.uid,
        "name": tensor.name,
        "dims": list(tensor.dims),
        "strides": list(tensor.strides),
        "data_type": tensor.data_type,
        "virtual": tensor.virtual,
    }
    if tensor.value_type is not None:
        data["value_type"] = tensor.value_type
    if tensor.value is not None:
        data["value"] = tensor.value
    return data


def _node(node: Node) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": node.name,
        "type": node.type,
        "compute_data_type": node.compute_data_type,
        "inputs": {role + TENSOR_SUFFIX: uid for role, uid in node.inputs.items()},
        "outputs": {role + TENSOR_SUFFIX: uid for role, uid in node.outputs.items()},
    }
    options_at = KINDS[node.type].options_at
    if options_at is not None and node.options:
        data.setdefault(options_at, {}).update(node.options)
    return data


def graph_id(graph: Graph) -> str:
    """Twelve hex digits that two graphs share if and only if they pose the same problem.

    It is the start of the SHA-256 over the canonical JSON of the graph's document without its name, without keys
    that start with `_` (so without provenance), without references that are null, and with its tensors by uid: two
    layers of two models that ask for the same operation on the same layouts are one graph.
    """
    data = document(graph)
    del data["name"]
    data.pop("_provenance", None)
    data["tensors"].sort(key=lambda tensor: tensor["uid"])
    for node in data["nodes"]:
        for side in ("inputs", "outputs"):
            node[side] = {
                key: value for key, value in node[side].items() if value is not None or not key.endswith(TENSOR_SUFFIX)
            }
    return sha256_hex(canonical_json(data))[:12]
