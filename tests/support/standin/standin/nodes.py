"""A graph's node that multiplies a vector by a constant."""

from winnow.graphs.kinds import NodeKind
from winnow.strict.schema import StrictModel


class ScaleOptions(StrictModel):
    """`attributes` of a scaling."""

    factor: float


SCALE = NodeKind("ScaleAttributes", inputs=("x",), outputs=("y",), options_at="attributes", options=ScaleOptions)
