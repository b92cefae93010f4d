"""Reading graph files and directories of them: nothing of a graph is lost, and what is written reads back as it was."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from graph_files import CONVOLUTION, MATMUL, SDPA
from graph_files import graph_of_text as _graph
from hypothesis import given
from hypothesis import strategies as st

from winnow.errors import InputError
from winnow.graphs.kinds import DATA_TYPES, KINDS
from winnow.graphs.model import Graph, Node, Tensor, graph_id
from winnow.graphs.reader import read_corpus, read_graph, write_graph


def test_matmul_is_read_with_uid_zero_and_column_strides() -> None:
    """uid 0 read as "absent", or strides ignored, would compute another product."""
    graph = _graph(MATMUL)
    assert graph.tensor(0).name == "a"
    assert graph.tensor(1) == Tensor(1, "b", (3, 4), (1, 3), "float", False)
    assert graph.nodes == (Node("mm", "MatmulAttributes", "float", {"a": 0, "b": 1}, {"c": 2}, {}),)
    with pytest.raises(KeyError):
        graph.tensor(7)


def test_attention_keeps_null_references_and_options() -> None:
    """A lost mask option would silently turn causal attention into full attention."""
    node = _graph(SDPA).nodes[0]
    assert node.inputs == {"q": 1, "k": 2, "v": 3, "attn_mask": None}
    assert node.outputs == {"o": 4, "stats": None}
    assert node.options == {"causal_mask": True, "diagonal_alignment": "TOP_LEFT", "attn_scale_value": 0.088388}


def test_options_are_found_where_each_node_type_keeps_them() -> None:
    """Padding lost from `parameters`, or an operation from `inputs`, would be another computation."""
    graph = _graph(CONVOLUTION)
    back, scaled = graph.nodes
    assert back.type == "ConvolutionBwdAttributes"
    assert back.options["dilation"] == [1, 1]
    assert scaled.inputs == {"in_0": 3, "in_1": 4, "in_2": None}
    assert scaled.options == {"operation": "mul", "relu_lower_clip": None}
    constant = graph.tensor(4)
    assert (constant.value, constant.value_type, constant.alignment) == (6.0, "Float16Value", 16)


@pytest.mark.parametrize("text", [MATMUL, SDPA, CONVOLUTION])
def test_written_text_is_stable_and_loses_nothing(text: str) -> None:
    """A corpus that is rewritten on every run, or changes its problem, cannot be reviewed or resumed."""
    graph = _graph(text)
    written = write_graph(graph)
    again = _graph(written)
    assert again == graph
    assert write_graph(again) == written


def test_keys_of_newer_hipdnn_files_are_accepted_where_they_change_nothing() -> None:
    """Files from hipDNN's present serializer must load."""
    newer = MATMUL.replace('"name": "tiny",', '"name": "tiny", "id": "x", "is_override_shape_enabled": false,')
    newer = newer.replace('"virtual": false', '"virtual": false, "is_runtime_pass_by_value": false')
    assert graph_id(_graph(newer)) == graph_id(_graph(MATMUL))


def test_annotations_are_allowed_anywhere_and_only_provenance_is_kept() -> None:
    """A mined corpus carries notes; they must neither break reading nor change which problem it is."""
    noted = MATMUL.replace('"name": "mm",', '"name": "mm", "_note": [1, {"_x": 2}],')
    noted = noted.replace('"name": "tiny",', '"_provenance": {"model": "M", "phase": "decode"}, "name": "tiny",')
    graph = _graph(noted)
    assert graph.provenance == {"model": "M", "phase": "decode"}
    assert graph_id(graph) == graph_id(_graph(MATMUL))
    assert '"_provenance": {"model": "M", "phase": "decode"}' in write_graph(graph)


def test_read_graph_names_the_file(tmp_path: Path) -> None:
    """The path in the message is the one that the user gave; packed files are read too."""
    path = tmp_path / "g.json.gz"
    path.write_bytes(gzip.compress(MATMUL.encode()))
    assert read_graph(path) == _graph(MATMUL)
    with pytest.raises(InputError) as caught:
        read_graph(tmp_path / "no.json")
    assert str(caught.value) == f"{tmp_path / 'no.json'}: no such file"


def _write_corpus(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (directory / name).write_text(text)


def test_a_corpus_is_sorted_by_file_name_and_skips_shapes(tmp_path: Path) -> None:
    """The order of graphs decides the order of measurements: it must not be the file system's."""
    other = MATMUL.replace('"tiny"', '"other"').replace("[2, 3]", "[5, 3]").replace("[2, 4]", "[5, 4]")
    files = {"b.json": MATMUL, "a.json": other, "x.shapes.json": "[]", ".hidden.json": "", "README.md": ""}
    _write_corpus(tmp_path, files)
    assert [graph.name for graph in read_corpus(tmp_path)] == ["other", "tiny"]


def test_one_problem_twice_in_a_corpus_names_both_files(tmp_path: Path) -> None:
    """It would count twice in every mean, under two names."""
    _write_corpus(tmp_path, {"a.json": MATMUL, "b.json": MATMUL.replace('"tiny"', '"renamed"')})
    with pytest.raises(InputError) as caught:
        read_corpus(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'b.json'}: poses the same problem as {tmp_path / 'a.json'} "
        f"(graph id {graph_id(_graph(MATMUL))})\n  cure: delete one of the two"
    )


def test_an_empty_or_missing_corpus_is_an_error(tmp_path: Path) -> None:
    """A sweep over nothing looks like a sweep in which everything passed."""
    with pytest.raises(InputError) as caught:
        read_corpus(tmp_path)
    assert str(caught.value) == f"{tmp_path}: no graph in this directory\n  cure: put *.json graph files into it"
    with pytest.raises(InputError) as caught:
        read_corpus(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: no such directory of graphs"


_names = st.text(max_size=8)
_tensors = st.lists(
    st.tuples(_names, st.lists(st.tuples(st.integers(1, 999), st.integers(0, 999)), max_size=4)), min_size=3, max_size=5
)


@st.composite
def _graphs(draw: st.DrawFn) -> Graph:
    tensors = tuple(
        Tensor(
            uid,
            name,
            tuple(dim for dim, _ in shape),
            tuple(stride for _, stride in shape),
            draw(st.sampled_from(DATA_TYPES)),
            draw(st.booleans()),
            value=draw(st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _names),
        )
        for uid, (name, shape) in enumerate(draw(_tensors))
    )
    kind = KINDS["SdpaAttributes"]
    optional = draw(st.lists(st.sampled_from(kind.optional_inputs), unique=True))
    inputs = {"q": 0, "k": 1, "v": 1} | {role: draw(st.sampled_from([None, 0, 2])) for role in optional}
    options = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "causal_mask": st.booleans(),
                "attn_scale_value": st.none() | st.floats(allow_nan=False, allow_infinity=False),
                "left_bound": st.none() | st.integers(),
            },
        )
    )
    node = Node(draw(_names), "SdpaAttributes", "float", inputs, {"o": 2}, options)
    provenance = draw(st.dictionaries(_names, _names, max_size=2))
    return Graph(draw(_names), "float", "half", "unset", tensors, (node,), provenance, draw(st.none() | st.integers()))


@given(_graphs())
def test_any_graph_survives_writing_and_reading(graph: Graph) -> None:
    """Write, read, write: the same graph and the same bytes, whatever the names and numbers are."""
    written = write_graph(graph)
    again = _graph(written)
    assert again == graph
    assert write_graph(again) == written
    assert json.loads(written)["nodes"][0]["inputs"]["q_tensor_uid"] == 0
