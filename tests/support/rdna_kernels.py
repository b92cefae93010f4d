"""RDNA attention kernels and the launches that check them, and graphs that pose problems to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from winnow.compilers.source import TritonSource
from winnow.families.attention_rdna import ADAPTER, RdnaAttentionRequest
from winnow.families.attention_rdna.cells import BIASES, MASKS, Cell
from winnow.families.attention_rdna.forward import CANDIDATE, build_attention_rdna
from winnow.families.attention_rdna.spec import RdnaAttentionSpec
from winnow.graphs.model import Graph, Node, Tensor
from winnow.interpreter import Probe

SMALL = {"block_m": 16, "block_n": 32, "num_warps": 2}
"""The tile that the interpreter runs fastest."""


def rdna_request(arch: str = "gfx11-generic", **changes: Any) -> RdnaAttentionRequest:
    sizes = {
        "dtype": "fp16",
        "num_query_heads": 8,
        "num_k_heads": 2,
        "num_v_heads": 4,
        "seqlen_q": 64,
        "seqlen_kv": 80,
        "head_size_qk": 64,
        "head_size_v": 64,
    }
    return RdnaAttentionRequest(**{"arch": arch, **sizes, **changes})


def spec_of(cell: Cell, dtype: str = "fp16", arch: str = "gfx11-generic", **knobs: Any) -> RdnaAttentionSpec:
    """The candidate's spec of a cell with these knobs pinned."""
    request = rdna_request(
        arch,
        dtype=dtype,
        width=cell.width,
        width_step=cell.width_step,
        head_size_qk=cell.width,
        head_size_v=cell.width,
        mask=cell.mask,
        bias=cell.bias,
        tuning_knobs=tuple(sorted(knobs.items())),
    )
    spec: RdnaAttentionSpec = CANDIDATE.select_spec(request)
    return spec


def metadata_of(spec: RdnaAttentionSpec) -> dict[str, Any]:
    """The metadata that the built-in engines give a kernel of this spec."""
    spelled = {
        "dtype": {"fp16": "HALF", "bf16": "BFLOAT16"}[spec.dtype],
        "mask": MASKS.index(spec.mask),
        "bias": dict(zip(BIASES, ("NONE", "FLOAT", "SAME"), strict=True))[spec.bias],
    }
    return {**dict(spec.items()), **spelled}


def probes_of(
    spec: RdnaAttentionSpec, changes: Sequence[tuple[str, str]] = (), arch: str = "gfx11-generic"
) -> list[Probe]:
    """The probes of a kernel, whose text is changed in places that are there exactly once."""
    source = changed(build_attention_rdna(spec, arch=arch), changes)
    found = []
    for graph in ADAPTER.probes(metadata_of(spec)):
        problem = ADAPTER.problem(graph)
        grid = CANDIDATE.grid(spec, ADAPTER.request(problem, arch))
        found.append(Probe(spec.kernel_name(), source, problem, grid, graph.name))
    return found


def changed(source: TritonSource, changes: Sequence[tuple[str, str]]) -> TritonSource:
    """The source with other text in places that are there exactly once."""
    text = source.text
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    return replace(source, text=text)


def rdna_graph(
    dims: Mapping[str, Sequence[int]],
    strides: Mapping[str, Sequence[int]] | None = None,
    types: Mapping[str, str] | None = None,
    **options: Any,
) -> Graph:
    """Attention over q, k, v, o and perhaps attn_mask of BHSD dims: fp16 and contiguous, but for what is said."""
    laid, kinds = dict(strides or {}), dict(types or {})
    tensors = tuple(
        Tensor(uid, role, tuple(d), tuple(laid.get(role, _contiguous(d))), kinds.get(role, "half"), False)
        for uid, (role, d) in enumerate(dims.items())
    )
    uids = {tensor.name: tensor.uid for tensor in tensors}
    node = Node(
        "attention",
        "SdpaAttributes",
        "float",
        {role: uid for role, uid in uids.items() if role != "o"},
        {"o": uids["o"]} if "o" in uids else {},
        options,
    )
    return Graph("attention", "float", "half", "float", tensors, (node,))


def _contiguous(dims: Sequence[int]) -> tuple[int, ...]:
    strides, span = [], 1
    for size in reversed(dims):
        strides.append(span)
        span *= size
    return tuple(reversed(strides))
