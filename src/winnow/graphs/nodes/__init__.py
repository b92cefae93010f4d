"""The node types that Winnow knows: one file a family of operations."""

from winnow.graphs.nodes.attention import SDPA
from winnow.graphs.nodes.batchnorm import BATCHNORM_INFERENCE
from winnow.graphs.nodes.convolution import BACKWARD_DATA, BACKWARD_WEIGHTS, FORWARD
from winnow.graphs.nodes.matmul import MATMUL
from winnow.graphs.nodes.pointwise import POINTWISE

KINDS = (MATMUL, SDPA, FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS, POINTWISE, BATCHNORM_INFERENCE)
"""What the entry point of the built-in node types offers."""
