"""The tensors of a graph's one operation as a family sees them, and why a family may have to decline them."""

from __future__ import annotations

from winnow.families.adapter import Declined, Operand
from winnow.graphs.model import Graph, Node


def single_node(graph: Graph, node_type: str) -> Node:
    """The graph's only node. Raises Declined when there are others, or it is of another type."""
    if len(graph.nodes) != 1:
        raise Declined(f"the graph has {len(graph.nodes)} nodes; kernels of one operation serve it alone")
    (node,) = graph.nodes
    if node.type != node_type:
        raise Declined(f"the graph's node is {node.type}, not {node_type}")
    if node.compute_data_type not in ("float", "unset"):
        raise Declined(f"computes in {node.compute_data_type}; the kernels compute in float")
    return node


def operand(graph: Graph, node: Node, role: str, data_types: tuple[str, ...] = ("float",)) -> Operand:
    """The node's tensor of a role. Raises Declined when kernels for these types over strided memory cannot take it."""
    output = role in node.outputs
    uid = (node.outputs if output else node.inputs).get(role)
    if uid is None:
        raise Declined(f"there is no tensor {role}")
    tensor = graph.tensor(uid)
    if tensor.virtual:
        raise Declined(f"{role} is virtual: it has no memory")
    if tensor.value is not None:
        raise Declined(f"{role} is a constant")
    if tensor.data_type not in data_types:
        raise Declined(f"{role} is of type {tensor.data_type}; the kernels take {' and '.join(data_types)}")
    if overlaps(tensor.dims, tensor.strides):
        raise Declined(f"elements of {role} share memory (dims {list(tensor.dims)}, strides {list(tensor.strides)})")
    return Operand(role, uid, tensor.dims, tensor.strides, tensor.data_type, output)


def refuse_others(node: Node, used: tuple[str, ...]) -> None:
    """Raises Declined when the node has a tensor in a role that is not in `used`."""
    for role, uid in {**node.inputs, **node.outputs}.items():
        if uid is not None and role not in used:
            raise Declined(f"the kernels have no {role}")


def overlaps(dims: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether two elements may share memory: some stride does not reach past all that smaller strides span."""
    span = 1
    for stride, dim in sorted((stride, dim) for dim, stride in zip(dims, strides, strict=True) if dim > 1):
        if stride < span:
            return True
        span += stride * (dim - 1)
    return False


def runs_at(dim: int, stride: int, expected: int) -> bool:
    """Whether a dim runs at the expected stride; the stride of a dim of one element has no meaning."""
    return dim == 1 or stride == expected
