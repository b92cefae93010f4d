"""The family that scales vectors, and its registry; it knows nothing of how Winnow enumerates or sweeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from standin.compiler import PARAMETERS, ToySource
from winnow.families.adapter import Declined, Operand, Problem

TILES = (64, 256)


@dataclass(frozen=True)
class ScaleRequest:
    arch: str
    dtype: str
    n: int
    algorithm: str = "auto"
    spec_id: str = "auto"
    tuning_knobs: tuple = ()

    def dims(self):
        return {"n": self.n}


@dataclass(frozen=True)
class ScaleSpec:
    dtype: str
    tile: int = 64


class Scale:
    """Multiplies a vector, a tile at a time; the tile must divide it."""

    name, family, algorithm, spec_id, abi_version, priority = "scale_tiled", "scale", "scale_tiled", "v1", "1", 10
    capability = SimpleNamespace(arches=("toy1",))
    opt_in = False

    def admits(self, request):
        try:
            self.select_spec(request)
        except ValueError as error:
            return False, str(error)
        return True, ""

    def select_spec(self, request):
        spec = replace(ScaleSpec(request.dtype), **dict(request.tuning_knobs))
        if spec.tile not in TILES or request.n % spec.tile:
            raise ValueError(f"tile {spec.tile} does not divide n={request.n}")
        return spec

    def sweep_space(self, request):
        return iter([ScaleSpec(request.dtype, tile) for tile in TILES if request.n % tile == 0])

    def grid(self, spec, request):
        return request.n // spec.tile, 1, 1

    def block(self, spec):
        return 1, 1, 1

    def signature(self, spec):
        return PARAMETERS


class Registry:
    def candidates(self):
        return (Scale(),)


REGISTRY = Registry()


def build_scale(spec: ScaleSpec, *, arch: str) -> ToySource:
    return ToySource(f"scale_{spec.dtype}_{spec.tile}", "scale", spec.tile)


def supports_scale(spec: ScaleSpec, *, arch: str) -> tuple[bool, str]:
    return spec.tile in TILES, f"no tile of {spec.tile}"


class Adapter:
    """How graphs ask for scalings."""

    name = "scale"
    vocabulary = {"dtype": frozenset({"FLOAT"})}  # noqa: RUF012 - never written to

    def problem(self, graph):
        (node,) = graph.nodes
        if node.type != "ScaleAttributes":
            raise Declined(f"the graph's node is {node.type}")
        x, y = graph.tensor(node.inputs["x"]), graph.tensor(node.outputs["y"])
        operands = tuple(
            Operand(role, tensor.uid, tensor.dims, tensor.strides, tensor.data_type, role == "y")
            for role, tensor in (("x", x), ("y", y))
        )
        fields = {"dtype": "FLOAT", "n": x.dims[0], "factor": float(node.options["factor"])}
        return Problem(fields, operands, x.dims[0])

    def request(self, problem, arch):
        return ScaleRequest(arch, "fp32", problem.fields["n"])

    def inputs(self, problem, seed):
        return {"x": np.random.default_rng(seed).standard_normal(problem.fields["n"]).astype(np.float32)}

    def reference(self, problem, inputs):
        return {"y": inputs["x"].astype(np.float64) * problem.fields["factor"]}

    def tolerance(self, problem):
        return 1e-6, 0.0

    def score(self, metadata, fields):
        return float(metadata["tile"])


ADAPTER = Adapter()
