"""Kernels of the built-in families, compiled and run on the CPU device; and graphs that pose problems to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from winnow.compilers.c import compile_c
from winnow.compilers.toolchain import Toolchain
from winnow.devices.cpu import CpuDevice
from winnow.devices.device import Module
from winnow.families.adapter import FamilyAdapter
from winnow.graphs.model import Graph, Node, Tensor
from winnow.runtime.correctness import Correctness
from winnow.runtime.execution import Execution

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")


def runnable(arch: str, device: CpuDevice) -> bool:
    """Whether this machine runs code for a target."""
    return LEVELS.index(arch) <= LEVELS.index(device.arch)


@dataclass
class Bench:
    """Compiles each kernel once and judges it on problems."""

    device: CpuDevice
    toolchain: Toolchain
    loaded: dict[tuple[str, str], Module] = field(default_factory=dict)

    def module(self, candidate: Any, spec: Any, arch: str) -> Module:
        key = (spec.kernel_name(), arch)
        if key not in self.loaded:
            code = compile_c(candidate.build(spec, arch), arch, self.toolchain)
            self.loaded[key] = self.device.load(code.payload, code.symbol, code.signature)
        return self.loaded[key]

    def judge(
        self, adapter: FamilyAdapter, candidate: Any, spec: Any, arch: str, graph: Graph, seed: int = 1
    ) -> Correctness:
        """One launch on poisoned outputs, between guards: right values, inputs as they were, gaps untouched."""
        problem = adapter.problem(graph)
        grid = candidate.grid(spec, adapter.request(problem, arch))
        with Execution(self.device, adapter, problem, seed) as execution:
            return execution.verify(self.module(candidate, spec, arch), grid)


def matmul_graph(
    dims: tuple[Sequence[int], Sequence[int], Sequence[int]],
    strides: tuple[Sequence[int], Sequence[int], Sequence[int]] | None = None,
    **changes: Any,
) -> Graph:
    """C = A·B; without strides all three are contiguous. `changes` replace fields of every tensor."""
    laid = strides or tuple(contiguous(d) for d in dims)
    tensors = tuple(
        Tensor(
            uid,
            role,
            tuple(d),
            tuple(s),
            changes.get("data_type", "float"),
            changes.get("virtual", False),
            changes.get("value"),
        )
        for uid, (role, d, s) in enumerate(zip("abc", dims, laid, strict=True))
    )
    node = Node("product", "MatmulAttributes", changes.get("compute", "float"), {"a": 0, "b": 1}, {"c": 2})
    return Graph("product", "float", "float", "float", tensors, (node,))


def sdpa_graph(
    dims: Mapping[str, Sequence[int]], strides: Mapping[str, Sequence[int]] | None = None, **options: Any
) -> Graph:
    """Attention over q, k, v, o (and further roles) of BHSD dims; without strides all are contiguous."""
    laid = dict(strides or {})
    tensors = tuple(
        Tensor(uid, role, tuple(d), tuple(laid.get(role, contiguous(d))), "float", False)
        for uid, (role, d) in enumerate(dims.items())
    )
    uids = {tensor.name: tensor.uid for tensor in tensors}
    outputs = {role: uid for role, uid in uids.items() if role in ("o", "stats")}
    inputs = {role: uid for role, uid in uids.items() if role not in outputs}
    node = Node("attention", "SdpaAttributes", "float", inputs, outputs, options)
    return Graph("attention", "float", "float", "float", tensors, (node,))


def contiguous(dims: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides."""
    strides = [1]
    for dim in reversed(dims[1:]):
        strides.insert(0, strides[0] * dim)
    return tuple(strides)
