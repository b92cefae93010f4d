"""Reads and writes graph files: strictly in, byte-stable out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from winnow.errors import InputError, Place, nearest
from winnow.graphs.kinds import ALIASES, DATA_TYPES, KINDS, TENSOR_SUFFIX
from winnow.graphs.model import Graph, Node, Tensor, document, graph_id
from winnow.graphs.schema import GraphFile, NodeFile, TensorFile, sections_of
from winnow.strict.document import Document, Key
from winnow.strict.json_reader import load_json
from winnow.strict.schema import validate

_INT64_MAX = 2**63 - 1
_LINE_WIDTH = 140


def read_graph(path: Path) -> Graph:
    """The graph of one file. Keys that start with `_` are annotations: only `_provenance` is kept.

    Raises:
        InputError: the file is unreadable, not JSON, or not a graph; says where and what to do.
    """
    return graph_of(load_json(path))


def read_corpus(directory: Path) -> tuple[Graph, ...]:
    """Every graph of a directory (`*.json` except `*.shapes.json`), sorted by file name.

    Raises:
        InputError: the directory is missing or holds no graph, a graph that is unusable, or one problem twice.
    """
    if not directory.is_dir():
        raise InputError("no such directory of graphs", place=Place(str(directory)))
    files = graph_files(directory)
    if not files:
        raise InputError(
            "no graph in this directory", place=Place(str(directory)), cure="put *.json graph files into it"
        )
    seen: dict[str, Path] = {}
    graphs: list[Graph] = []
    for path in files:
        graph = read_graph(path)
        identity = graph_id(graph)
        if identity in seen:
            raise InputError(
                f"poses the same problem as {seen[identity]} (graph id {identity})",
                place=Place(str(path)),
                cure="delete one of the two",
            )
        seen[identity] = path
        graphs.append(graph)
    return tuple(graphs)


def graph_files(directory: Path) -> list[Path]:
    """The graph files of a directory (`*.json` except `*.shapes.json`), sorted by name; none where it is not there."""
    files = sorted(directory.glob("*.json"), key=lambda path: path.name)
    return [path for path in files if not path.name.startswith(".") and not path.name.endswith(".shapes.json")]


def write_graph(graph: Graph) -> str:
    """The text of the graph's file. Reading it and writing it again gives the same bytes."""
    return _layout(document(graph), 0, 0) + "\n"


def _layout(value: Any, indent: int, used: int) -> str:
    """JSON with everything that fits on one line, on one line; the outermost level is always broken."""
    flat = json.dumps(value, allow_nan=False)
    if not isinstance(value, dict | list) or not value or (indent and indent + used + len(flat) < _LINE_WIDTH):
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, list):
        parts = [inner + _layout(item, indent + 2, 0) for item in value]
        return "[\n" + ",\n".join(parts) + f"\n{' ' * indent}]"
    heads = {key: f"{json.dumps(key)}: " for key in value}
    parts = [inner + heads[key] + _layout(item, indent + 2, len(heads[key])) for key, item in value.items()]
    return "{\n" + ",\n".join(parts) + f"\n{' ' * indent}}}"


def graph_of(source: Document) -> Graph:
    """The graph that a loaded document holds.

    Raises:
        InputError: it is not one; with the file, the line, the key, the value and the cure.
    """
    if not isinstance(source.data, dict):
        raise InputError("not a graph: the file holds no JSON object", place=source.place())
    plain = Document(source.file, _without_annotations(source.data), source.lines)
    file = validate(GraphFile, plain)
    for key in ("compute_data_type", "io_data_type", "intermediate_data_type"):
        _check_data_type(plain, key)
    if file.is_override_shape_enabled:
        raise _refused(plain, "graphs whose shapes are overridden at run time", "is_override_shape_enabled")
    tensors = tuple(_tensor(tensor, plain, i) for i, tensor in enumerate(file.tensors))
    _check_uids(tensors, plain)
    if not file.nodes:
        raise InputError("a graph needs at least one node", place=plain.place("nodes"))
    nodes = tuple(_node(node, plain, i) for i, node in enumerate(file.nodes))
    _check_references(tensors, nodes, plain)
    return Graph(
        name=file.name,
        compute_data_type=file.compute_data_type,
        io_data_type=file.io_data_type,
        intermediate_data_type=file.intermediate_data_type,
        tensors=tensors,
        nodes=nodes,
        provenance=_provenance(source),
        preferred_engine_id=file.preferred_engine_id,
    )


def _without_annotations(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_annotations(item) for key, item in value.items() if not key.startswith("_")}
    return [_without_annotations(item) for item in value] if isinstance(value, list) else value


def _provenance(source: Document) -> Mapping[str, str]:
    provenance = source.data.get("_provenance", {})
    if not isinstance(provenance, dict):
        raise InputError("is not an object", place=source.place("_provenance"), cure="give keys with texts")
    for key, value in provenance.items():
        if not isinstance(value, str):
            raise InputError(
                f"is not a text (value: {value!r})", place=source.place("_provenance", key), cure="quote it"
            )
    return dict(provenance)


def _check_data_type(plain: Document, *path: Key) -> None:
    data = plain.data
    for key in path:
        data = data[key]
    if data not in DATA_TYPES:
        raise InputError(f'unknown data type "{data}"', place=plain.place(*path), cure=nearest(str(data), DATA_TYPES))


def _refused(plain: Document, what: str, *path: Key) -> InputError:
    return InputError(f"{what} are not supported", place=plain.place(*path), cure="leave this graph out")


def _tensor(file: TensorFile, plain: Document, index: int) -> Tensor:
    at = ("tensors", index)
    _check_data_type(plain, *at, "data_type")
    if file.is_runtime_pass_by_value:
        raise _refused(plain, "tensors whose value is given at run time", *at, "is_runtime_pass_by_value")
    if file.ragged_offset_tensor_uid is not None:
        raise _refused(plain, "ragged tensors", *at, "ragged_offset_tensor_uid")
    if len(file.dims) != len(file.strides):
        raise InputError(
            f"{len(file.dims)} dims but {len(file.strides)} strides",
            place=plain.place(*at, "strides"),
            cure="give one stride, in elements, for each dim",
        )
    for key, values, least in (("dims", file.dims, 1), ("strides", file.strides, 0)):
        for i, value in enumerate(values):
            if value < least:
                raise InputError(f"must be at least {least} (value: {value})", place=plain.place(*at, key, i))
    span = 1 + sum((dim - 1) * stride for dim, stride in zip(file.dims, file.strides, strict=True))
    if max(span, math.prod(file.dims)) > _INT64_MAX:
        raise InputError("the tensor is larger than 64 bits can count", place=plain.place(*at, "dims"))
    if not _is_constant(file.value):
        raise InputError("a constant is a finite number, a boolean or a text", place=plain.place(*at, "value"))
    return Tensor(
        uid=file.uid,
        name=file.name,
        dims=tuple(file.dims),
        strides=tuple(file.strides),
        data_type=file.data_type,
        virtual=file.virtual,
        value=file.value,
        value_type=file.value_type,
        alignment=file.alignment,
    )


def _is_constant(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, int | str)


def _check_uids(tensors: tuple[Tensor, ...], plain: Document) -> None:
    first: dict[int, int] = {}
    for i, tensor in enumerate(tensors):
        if tensor.uid in first:
            raise InputError(
                f"uid {tensor.uid} is already tensors[{first[tensor.uid]}]",
                place=plain.place("tensors", i, "uid"),
                cure="give each tensor its own uid",
            )
        first[tensor.uid] = i


def _node(file: NodeFile, plain: Document, index: int) -> Node:
    at = ("nodes", index)
    node_type = ALIASES.get(file.type, file.type)
    if node_type not in KINDS:
        raise InputError(
            f'unknown node type "{file.type}"', place=plain.place(*at, "type"), cure=KINDS.missing(file.type)
        )
    _check_data_type(plain, *at, "compute_data_type")
    options_at = KINDS[node_type].options_at
    for section in ("attributes", "parameters"):
        if getattr(file, section) is not None and section != options_at:
            where = f'its options stand in "{options_at}"' if options_at else "it has no options"
            raise InputError(f'unknown key "{section}" for {node_type}', place=plain.place(*at, section), cure=where)
    for section, model in sections_of(KINDS[node_type]).items():
        if getattr(file, section) is not None:
            validate(model, plain, *at, section)
        elif any(field.is_required() for field in model.model_fields.values()):
            raise InputError(f'key "{section}" is missing', place=plain.place(*at, section))
    inputs, beside = _split(file.inputs)
    outputs, _ = _split(file.outputs)
    options = beside if options_at == "inputs" else getattr(file, options_at or "attributes") or {}
    return Node(file.name, node_type, file.compute_data_type, inputs, outputs, options)


def _split(section: Mapping[str, Any]) -> tuple[dict[str, int | None], dict[str, Any]]:
    """References by role, and everything else."""
    references = {k.removesuffix(TENSOR_SUFFIX): v for k, v in section.items() if k.endswith(TENSOR_SUFFIX)}
    return references, {k: v for k, v in section.items() if not k.endswith(TENSOR_SUFFIX)}


def _check_references(tensors: tuple[Tensor, ...], nodes: tuple[Node, ...], plain: Document) -> None:
    uids = {tensor.uid for tensor in tensors}
    writers: dict[int, str] = {}
    for i, node in enumerate(nodes):
        for section, references in (("inputs", node.inputs), ("outputs", node.outputs)):
            for role, uid in references.items():
                place = plain.place("nodes", i, section, role + TENSOR_SUFFIX)
                if uid is None:
                    continue
                if uid not in uids:
                    known = ", ".join(str(uid) for uid in sorted(uids)) or "none"
                    raise InputError(f"no tensor has uid {uid}", place=place, cure=f"known: {known}")
                if section == "outputs" and uid in writers:
                    raise InputError(
                        f"uid {uid} is already written by {writers[uid]}",
                        place=place,
                        cure="give each output its own tensor",
                    )
                if section == "outputs":
                    writers[uid] = f"nodes[{i}]"
