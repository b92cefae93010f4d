"""Reading graph files: each fault is refused with its place and cure, and what is written reads back as it was."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.errors import InputError
from winnow.graphs.kinds import DATA_TYPES, KINDS
from winnow.graphs.model import Graph, Node, Tensor, graph_id
from winnow.graphs.reader import graph_of, read_corpus, read_graph, write_graph
from winnow.strict.json_reader import parse_json

MATMUL = """{
  "name": "tiny",
  "compute_data_type": "float",
  "io_data_type": "float",
  "intermediate_data_type": "float",
  "tensors": [
    {"uid": 0, "name": "a", "dims": [2, 3], "strides": [3, 1], "data_type": "float", "virtual": false},
    {"uid": 1, "name": "b", "dims": [3, 4], "strides": [1, 3], "data_type": "float", "virtual": false},
    {"uid": 2, "name": "c", "dims": [2, 4], "strides": [4, 1], "data_type": "float", "virtual": false}
  ],
  "nodes": [
    {
      "name": "mm",
      "type": "MatmulAttributes",
      "compute_data_type": "float",
      "inputs": {"a_tensor_uid": 0, "b_tensor_uid": 1},
      "outputs": {"c_tensor_uid": 2}
    }
  ]
}
"""

SDPA = """{
  "name": "sdpa", "compute_data_type": "float", "io_data_type": "bfloat16", "intermediate_data_type": "float",
  "tensors": [
    {"uid": 1, "name": "q", "dims": [1, 16, 128, 128], "strides": [262144, 128, 2048, 1], "data_type": "bfloat16",
     "virtual": false},
    {"uid": 2, "name": "k", "dims": [1, 16, 128, 128], "strides": [262144, 128, 2048, 1], "data_type": "bfloat16",
     "virtual": false},
    {"uid": 3, "name": "v", "dims": [1, 16, 128, 128], "strides": [262144, 128, 2048, 1], "data_type": "bfloat16",
     "virtual": false},
    {"uid": 4, "name": "o", "dims": [1, 16, 128, 128], "strides": [262144, 128, 2048, 1], "data_type": "bfloat16",
     "virtual": false}
  ],
  "nodes": [
    {"name": "n0", "type": "SdpaAttributes", "compute_data_type": "float",
     "inputs": {"q_tensor_uid": 1, "k_tensor_uid": 2, "v_tensor_uid": 3, "attn_mask_tensor_uid": null},
     "outputs": {"o_tensor_uid": 4, "stats_tensor_uid": null},
     "attributes": {"causal_mask": true, "diagonal_alignment": "TOP_LEFT", "attn_scale_value": 0.088388}}
  ]
}
"""

CONVOLUTION = """{
  "name": "conv", "compute_data_type": "float", "io_data_type": "half", "intermediate_data_type": "float",
  "tensors": [
    {"uid": 1, "name": "dy", "dims": [1, 8, 6, 6], "strides": [288, 36, 6, 1], "data_type": "half", "virtual": false},
    {"uid": 2, "name": "w", "dims": [8, 4, 3, 3], "strides": [36, 9, 3, 1], "data_type": "half", "virtual": false},
    {"uid": 3, "name": "dx", "dims": [1, 4, 8, 8], "strides": [256, 64, 8, 1], "data_type": "half", "virtual": true},
    {"uid": 4, "name": "six", "dims": [1], "strides": [1], "data_type": "half", "virtual": false,
     "alignment": 16, "value_type": "Float16Value", "value": 6.0},
    {"uid": 5, "name": "y", "dims": [1, 4, 8, 8], "strides": [256, 64, 8, 1], "data_type": "half", "virtual": false}
  ],
  "nodes": [
    {"name": "back", "type": "ConvolutionDgradAttributes", "compute_data_type": "float",
     "inputs": {"dy_tensor_uid": 1, "w_tensor_uid": 2}, "outputs": {"dx_tensor_uid": 3},
     "parameters": {"conv_mode": "CROSS_CORRELATION", "pre_padding": [0, 0], "post_padding": [0, 0],
                    "stride": [1, 1], "dilation": [1, 1]}},
    {"name": "scaled", "type": "PointwiseAttributes", "compute_data_type": "float",
     "inputs": {"operation": "mul", "in_0_tensor_uid": 3, "in_1_tensor_uid": 4, "in_2_tensor_uid": null,
                "relu_lower_clip": null},
     "outputs": {"out_0_tensor_uid": 5}}
  ]
}
"""


def _graph(text: str) -> Graph:
    return graph_of(parse_json(text, "g.json"))


def _error(text: str) -> str:
    with pytest.raises(InputError) as caught:
        _graph(text)
    assert caught.value.exit_code == 2
    return str(caught.value)


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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"nodes": [', '"nodes": {', "g.json:12: malformed JSON: Expecting property name enclosed in double quotes"),
        (
            '"uid": 1, "name": "b"',
            '"uid": 1, "name": "b", "uid": 1',
            "g.json:8: tensors[1].uid: duplicate key (first on line 8)\n  cure: keep one of the two",
        ),
        (
            '"io_data_type"',
            '"io_dtype"',
            'g.json:4: io_dtype: unknown key "io_dtype"\n  cure: did you mean "io_data_type"?',
        ),
        (
            '"strides": [4, 1]',
            '"stride": [4, 1], "strides": [4, 1]',
            'g.json:9: tensors[2].stride: unknown key "stride"\n  cure: did you mean "strides"?',
        ),
        (
            '"uid": 2,',
            '"uid": true,',
            "g.json:9: tensors[2].uid: Input should be a valid integer (value: True)",
        ),
        (
            '"uid": 2,',
            '"uid": 1,',
            "g.json:9: tensors[2].uid: uid 1 is already tensors[1]\n  cure: give each tensor its own uid",
        ),
        (
            '"b_tensor_uid": 1',
            '"b_tensor_uid": 9',
            "g.json:16: nodes[0].inputs.b_tensor_uid: no tensor has uid 9\n  cure: known: 0, 1, 2",
        ),
        (
            '"strides": [4, 1], "data_type": "float"',
            '"strides": [4, 1], "data_type": "flaot"',
            'g.json:9: tensors[2].data_type: unknown data type "flaot"\n  cure: did you mean "float"?',
        ),
        (
            '"io_data_type": "float"',
            '"io_data_type": "fp8"',
            'g.json:4: io_data_type: unknown data type "fp8"\n'
            "  cure: known: bfloat16, double, float, half, int32, int8, uint8, unset",
        ),
        (
            '"strides": [4, 1]',
            '"strides": [1]',
            "g.json:9: tensors[2].strides: 2 dims but 1 strides\n  cure: give one stride, in elements, for each dim",
        ),
        (
            '"dims": [3, 4]',
            '"dims": [3, 0]',
            "g.json:8: tensors[1].dims[1]: must be at least 1 (value: 0)",
        ),
        (
            '"strides": [1, 3]',
            '"strides": [-1, 3]',
            "g.json:8: tensors[1].strides[0]: must be at least 0 (value: -1)",
        ),
        (
            '"dims": [3, 4], "strides": [1, 3]',
            '"dims": [3, 4], "strides": [1, 9223372036854775807]',
            "g.json:8: tensors[1].dims: the tensor is larger than 64 bits can count",
        ),
        (
            '"MatmulAttributes"',
            '"MatMulAttributes"',
            'g.json:14: nodes[0].type: unknown node type "MatMulAttributes"\n  cure: did you mean "MatmulAttributes"?',
        ),
        (
            '"a_tensor_uid"',
            '"x_tensor_uid"',
            'g.json:16: nodes[0].inputs.x_tensor_uid: unknown key "x_tensor_uid"\n  cure: did you mean "b_tensor_uid"?',
        ),
        (
            '"a_tensor_uid": 0',
            '"a_tensor_uid": null',
            "g.json:16: nodes[0].inputs.a_tensor_uid: Input should be a valid integer (value: None)",
        ),
        (
            '"c_tensor_uid": 2}',
            '"c_tensor_uid": 2, "d_tensor_uid": 2}',
            'g.json:17: nodes[0].outputs.d_tensor_uid: unknown key "d_tensor_uid"\n'
            '  cure: did you mean "c_tensor_uid"?',
        ),
        (
            '"type": "MatmulAttributes"',
            '"attributes": {}, "type": "MatmulAttributes"',
            'g.json:14: nodes[0].attributes: unknown key "attributes" for MatmulAttributes\n  cure: it has no options',
        ),
        (
            '"virtual": false}\n',
            '"virtual": false, "ragged_offset_tensor_uid": 1}\n',
            "g.json:9: tensors[2].ragged_offset_tensor_uid: ragged tensors are not supported\n"
            "  cure: leave this graph out",
        ),
        (
            '"virtual": false}\n',
            '"virtual": false, "is_runtime_pass_by_value": true}\n',
            "g.json:9: tensors[2].is_runtime_pass_by_value: tensors whose value is given at run time are not supported"
            "\n  cure: leave this graph out",
        ),
        (
            '"name": "tiny"',
            '"name": "tiny", "is_override_shape_enabled": true',
            "g.json:2: is_override_shape_enabled: graphs whose shapes are overridden at run time are not supported\n"
            "  cure: leave this graph out",
        ),
        (
            '"virtual": false}\n',
            '"virtual": false, "value": 1e999}\n',
            "g.json:9: tensors[2].value: a constant is a finite number, a boolean or a text",
        ),
        (
            '"name": "tiny"',
            '"name": "tiny", "_provenance": {"layer": 3}',
            "g.json:2: _provenance.layer: is not a text (value: 3)\n  cure: quote it",
        ),
        (
            '"name": "tiny"',
            '"name": "tiny", "_provenance": []',
            "g.json:2: _provenance: is not an object\n  cure: give keys with texts",
        ),
    ],
)
def test_each_fault_of_a_file_is_named_with_its_place_and_cure(old: str, new: str, message: str) -> None:
    """The user must find the fault in a file of thousands of lines; a tolerant reader would measure another problem."""
    assert MATMUL.count(old) >= 1
    assert _error(MATMUL.replace(old, new, 1)) == message


def test_faults_of_attention_options() -> None:
    """A misspelt or missing option would fall back to a default: another mask, another scale."""
    assert _error(SDPA.replace('"causal_mask"', '"casual_mask"')) == (
        'g.json:17: nodes[0].attributes.casual_mask: unknown key "casual_mask"\n  cure: did you mean "causal_mask"?'
    )
    assert _error(SDPA.replace('"TOP_LEFT"', '"TOPLEFT"')) == (
        "g.json:17: nodes[0].attributes.diagonal_alignment: "
        "Input should be 'TOP_LEFT' or 'BOTTOM_RIGHT' (value: 'TOPLEFT')"
    )
    assert _error(SDPA.replace('"attributes"', '"parameters"')) == (
        'g.json:17: nodes[0].parameters: unknown key "parameters" for SdpaAttributes\n'
        '  cure: its options stand in "attributes"'
    )
    assert _error(SDPA.replace("0.088388", "1e999")) == (
        "g.json:17: nodes[0].attributes.attn_scale_value: Input should be a finite number (value: inf)"
    )
    assert _error(CONVOLUTION.replace('"parameters"', '"_parameters"')) == (
        'g.json:12: nodes[0].parameters: key "parameters" is missing'
    )


def test_one_tensor_with_two_writers_is_refused() -> None:
    """Which of the two results counts would be a guess."""
    assert _error(SDPA.replace('"stats_tensor_uid": null', '"stats_tensor_uid": 4')) == (
        "g.json:16: nodes[0].outputs.stats_tensor_uid: uid 4 is already written by nodes[0]\n"
        "  cure: give each output its own tensor"
    )


def test_files_that_are_no_graph() -> None:
    """A shapes list or an empty graph among the graphs must be named, not skipped."""
    assert _error("[]") == "g.json:1: not a graph: the file holds no JSON object"
    empty = MATMUL[: MATMUL.index('"nodes"')] + '"nodes": []}'
    assert _error(empty) == "g.json:11: nodes: a graph needs at least one node"


def test_places_are_found_in_files_indented_with_tabs() -> None:
    """Editors indent JSON with tabs; the line must not get lost."""
    tabbed = MATMUL.replace("  ", "\t").replace('"dims": [3, 4]', '"dims": [3, 0]')
    assert _error(tabbed) == "g.json:8: tensors[1].dims[1]: must be at least 1 (value: 0)"


def test_a_number_with_thousands_of_digits_is_an_input_error() -> None:
    """Python refuses to convert it with an error of its own, which would be a traceback."""
    assert _error('{"uid": ' + "9" * 5000 + "}") == "g.json: malformed JSON: a number has too many digits"


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
