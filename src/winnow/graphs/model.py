"""A hipDNN graph as frozen values, and the identity that says when two graphs pose the same problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from winnow.graphs.kinds import KINDS, TENSOR_SUFFIX
from winnow.identity import canonical_json, sha256_hex


@dataclass(frozen=True)
class Tensor:
    """One tensor: logical dims, strides in elements, alignment in bytes. `value` is set for a constant only."""

    uid: int
    name: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    data_type: str
    virtual: bool
    value: Any = None
    value_type: str | None = None
    alignment: int | None = None


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
    optional = {"alignment": tensor.alignment, "value_type": tensor.value_type, "value": tensor.value}
    return data | {key: value for key, value in optional.items() if value is not None}


def _node(node: Node) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": node.name,
        "type": node.type,
        "compute_data_type": node.compute_data_type,
        "inputs": {role + TENSOR_SUFFIX: uid for role, uid in node.inputs.items()},
        "outputs": {role + TENSOR_SUFFIX: uid for role, uid in node.outputs.items()},
    }
    options_at = KINDS[node.type].options_at
    if options_at is not None:
        data.setdefault(options_at, {}).update(node.options)
    return data


def graph_id(graph: Graph) -> str:
    """Twelve hex digits: the same for two graphs that pose the same problem on the same layouts.

    They start the SHA-256 over the canonical JSON of the graph's document without its name, without keys that
    start with `_` (so without provenance), without keys of nodes that are null, and with its tensors by uid. So two
    models whose layers ask for the same operation are one graph, and a corpus needs it once.
    """
    data = document(graph)
    del data["name"]
    data.pop("_provenance", None)
    data["tensors"].sort(key=lambda tensor: tensor["uid"])
    data["nodes"] = [_without_nulls(node) for node in data["nodes"]]
    return sha256_hex(canonical_json(data))[:12]


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_nulls(item) for key, item in value.items() if item is not None}
