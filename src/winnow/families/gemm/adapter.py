"""The GEMM family's side of a graph: a Matmul node as a problem, its inputs, its true result and its tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.dtypes import FORMATS
from winnow.families.adapter import Declined, Field, Operand, Problem
from winnow.families.cpu import INT32_MAX
from winnow.families.gemm.abi import FAMILY
from winnow.families.gemm.request import B_LAYOUTS, GemmRequest
from winnow.families.gemm.score import predicted_gflops
from winnow.families.operands import operand, runs_at, single_node
from winnow.graphs.model import Graph

UNIT_ROUNDOFF = FORMATS["float"].unit_roundoff
_DTYPE = "FLOAT"


class GemmAdapter:
    """Serves one MatmulAttributes node over fp32 tensors of rank 2 or 3."""

    name = FAMILY
    vocabulary: Mapping[str, frozenset[str]] = MappingProxyType(
        {"dtype": frozenset({_DTYPE}), "b_layout": frozenset(B_LAYOUTS)}
    )

    def problem(self, graph: Graph) -> Problem:
        """The product that the graph asks for. Raises Declined with the reason when it is not one of this family's.

        Products of a batch that share B and follow one another in A and C are one product with more rows.
        """
        node = single_node(graph, "MatmulAttributes")
        a, b, c = operands = tuple(operand(graph, node, role) for role in ("a", "b", "c"))
        batch, m, n, k = _sizes(a, b, c)
        stride_ab, stride_am, stride_ak = _strides(a)
        stride_bb, stride_bk, stride_bn = _strides(b)
        stride_cb, stride_cm, stride_cn = _strides(c)
        if not runs_at(k, stride_ak, 1):
            raise Declined(f"a is not contiguous along k (stride {stride_ak})")
        if not runs_at(n, stride_cn, 1):
            raise Declined(f"c is not contiguous along n (stride {stride_cn})")
        if batch > 1 and stride_bb == 0:
            if m == 1:
                stride_am, stride_cm = stride_ab, stride_cb
            if stride_ab == m * stride_am and stride_cb == m * stride_cm:
                batch, m = 1, batch * m
        fields: dict[str, Field] = {
            "dtype": _DTYPE,
            "b_layout": _b_layout(n, k, stride_bn, stride_bk),
            "batch": batch,
            "m": m,
            "n": n,
            "k": k,
            "stride_ab": stride_ab,
            "stride_am": stride_am,
            "stride_bb": stride_bb,
            "stride_bk": stride_bk,
            "stride_bn": stride_bn,
            "stride_cb": stride_cb,
            "stride_cm": stride_cm,
        }
        return Problem(fields, operands, 2 * batch * m * n * k)

    def request(self, problem: Problem, arch: str) -> GemmRequest:
        """The registry request that the problem is."""
        batch, m, n, k = (int(problem.fields[name]) for name in ("batch", "m", "n", "k"))
        return GemmRequest(arch=arch, b_layout=str(problem.fields["b_layout"]), batch=batch, m=m, n=n, k=k)

    def inputs(self, problem: Problem, seed: int) -> dict[str, NDArray[Any]]:
        """A and B with standard normal elements, A's divided by the root of k, so that C's are about 1 in size."""
        generator = np.random.Generator(np.random.PCG64(seed))
        a, b = (generator.standard_normal(o.dims, dtype=np.float32) for o in problem.operands if not o.output)
        a *= np.float32(1 / np.sqrt(problem.fields["k"]))
        return {"a": a, "b": b}

    def reference(self, problem: Problem, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """The product in double precision."""
        a, b = (inputs[role].astype(np.float64) for role in ("a", "b"))
        return {"c": np.matmul(a, b)}

    def tolerance(self, problem: Problem) -> tuple[float, float]:
        """(rtol, atol) for `inputs`, where any order of adding the k products is right.

        Partial sums grow to about 1, so the k rounding errors of at most u = 2^-24 of them add up to a deviation of
        u·sqrt(k/6). An atol of 8·u·sqrt(k) is about twenty deviations; a product that is left out changes a result by
        1/sqrt(k), which is far more for every k that a kernel takes.
        """
        return 1e-5, 8 * UNIT_ROUNDOFF * float(np.sqrt(problem.fields["k"]))

    def score(self, metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
        """Predicted operations per nanosecond of a kernel on a problem; larger is better."""
        return predicted_gflops(metadata, fields)


ADAPTER = GemmAdapter()


def _sizes(a: Operand, b: Operand, c: Operand) -> tuple[int, int, int, int]:
    """(batch, m, n, k) of operands whose dims fit together."""
    ranks = {len(o.dims) for o in (a, b, c)}
    if not ranks <= {2, 3}:
        raise Declined(f"ranks {sorted(ranks)}; the kernels take rank 2 or 3")
    (a_batch, m, k), (b_batch, b_k, n), (c_batch, c_m, c_n) = (_padded(o.dims) for o in (a, b, c))
    batch = max(a_batch, b_batch)
    if (b_k, c_m, c_n) != (k, m, n) or {a_batch, b_batch} - {1, batch} or c_batch != batch:
        raise Declined(f"dims do not fit together: a {list(a.dims)}, b {list(b.dims)}, c {list(c.dims)}")
    if max(batch * m, n, k) > INT32_MAX:
        raise Declined(f"a size is above {INT32_MAX}")
    return batch, m, n, k


def _padded(dims: tuple[int, ...]) -> tuple[int, int, int]:
    return (1, *dims) if len(dims) == 2 else dims  # type: ignore[return-value]


def _strides(o: Operand) -> tuple[int, int, int]:
    """(batch, row, column); a batch of one is the same for every product."""
    if len(o.dims) == 2 or o.dims[0] == 1:
        return (0, *o.strides[-2:])  # type: ignore[return-value]
    return o.strides  # type: ignore[return-value]


def _b_layout(n: int, k: int, stride_bn: int, stride_bk: int) -> str:
    """How B is contiguous. Where both will do, one dim has a single element and the other one decides."""
    along_n, along_k = runs_at(n, stride_bn, 1), runs_at(k, stride_bk, 1)
    if along_k and (not along_n or n == 1 < k):
        return "col"
    if along_n:
        return "row"
    raise Declined(f"b is contiguous neither along n nor along k (strides {stride_bn} and {stride_bk})")
