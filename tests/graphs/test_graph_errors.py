"""Each fault of a graph file is refused with its place and cure."""

from __future__ import annotations

import pytest
from graph_files import CONVOLUTION, MATMUL, SDPA
from graph_files import graph_of_text as _graph

from winnow.errors import InputError


def _error(text: str) -> str:
    with pytest.raises(InputError) as caught:
        _graph(text)
    assert caught.value.exit_code == 2
    return str(caught.value)


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
