"""Graph files for tests, as text that a test may edit."""

from __future__ import annotations

from winnow.graphs.model import Graph
from winnow.graphs.reader import graph_of
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


def graph_of_text(text: str) -> Graph:
    return graph_of(parse_json(text, "g.json"))
