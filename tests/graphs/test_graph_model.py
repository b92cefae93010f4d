"""The identity of graphs: it ignores what does not change the problem and sees everything that does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from winnow.graphs.model import Graph, graph_id
from winnow.graphs.models import attention, linear
from winnow.graphs.reader import write_graph


def _attention() -> Graph:
    return attention("gpt2", "prefill", 16, 16, mask="causal")


def test_identity_can_be_recomputed_from_the_file() -> None:
    """Another tool that reads a ledger must be able to find the graph from its id."""
    data = json.loads(write_graph(_attention()))
    kept = {key: value for key, value in data.items() if key != "name" and not key.startswith("_")}
    (node,) = kept["nodes"]
    for section in ("inputs", "outputs", "attributes"):
        node[section] = {key: value for key, value in node[section].items() if value is not None}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    assert graph_id(_attention()) == hashlib.sha256(text.encode()).hexdigest()[:12]


def test_identity_does_not_drift() -> None:
    """Stored measurements are found by this id: a change of the recipe would orphan them all."""
    assert graph_id(linear("llama3_8b", "q_proj", "decode", 1)) == "79219a920633"


def _node_inputs(graph: Graph, **inputs: int | None) -> Graph:
    return replace(graph, nodes=(replace(graph.nodes[0], inputs={**graph.nodes[0].inputs, **inputs}),))


def _drop_nulls(graph: Graph) -> Graph:
    node = graph.nodes[0]
    return replace(
        graph,
        nodes=(
            replace(
                node,
                inputs={role: uid for role, uid in node.inputs.items() if uid is not None},
                options={key: value for key, value in node.options.items() if value is not None},
            ),
        ),
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: replace(graph, name="renamed"),
        lambda graph: replace(graph, provenance={"model": "another"}),
        lambda graph: replace(graph, tensors=tuple(reversed(graph.tensors))),
        _drop_nulls,
    ],
    ids=["name", "provenance", "order of tensors", "null or absent"],
)
def test_identity_ignores(change: Callable[[Graph], Graph]) -> None:
    """The same problem mined twice must be recognised, or a sweep measures it twice."""
    changed = change(_attention())
    assert changed != _attention()
    assert graph_id(changed) == graph_id(_attention())


def _options(graph: Graph, **options: object) -> Graph:
    return replace(graph, nodes=(replace(graph.nodes[0], options={**graph.nodes[0].options, **options}),))


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: replace(graph, tensors=(replace(graph.tensors[0], strides=(1, 2, 3, 4)), *graph.tensors[1:])),
        lambda graph: replace(graph, tensors=(replace(graph.tensors[0], data_type="half"), *graph.tensors[1:])),
        lambda graph: replace(graph, io_data_type="half"),
        lambda graph: _options(graph, causal_mask=False),
        lambda graph: _options(graph, attn_scale_value=1.0),
        lambda graph: _node_inputs(graph, attn_mask=1),
    ],
    ids=["strides", "data type", "io type", "mask", "scale", "bias tensor"],
)
def test_identity_sees(change: Callable[[Graph], Graph]) -> None:
    """Two problems under one id would share measurements and verdicts."""
    assert graph_id(change(_attention())) != graph_id(_attention())
