"""A kernel that reads one element past a tensor crashes only where that memory ends; here it always ends there."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fenced_launch
import pytest
from family_kernels import Bench, matmul_graph, sdpa_graph

from winnow.compilers.c import compile_c
from winnow.compilers.code_object import CodeObject
from winnow.compilers.layout import block_size
from winnow.families import attention, gemm
from winnow.families.adapter import Problem

_FORMATS = {"i32": "<i", "i64": "<q", "f32": "<f"}


def gemm_problems() -> Iterator[tuple[str, dict[str, Any], Problem]]:
    for b_layout in ("row", "col"):
        for m, n, k in ((3, 50, 37), (4, 16, 16), (1, 1, 1)):
            strides_b = (n, 1) if b_layout == "row" else (1, k)
            graph = matmul_graph(((m, k), (k, n), (m, n)), ((k, 1), strides_b, (n, 1)))
            problem = gemm.ADAPTER.problem(graph)
            for algorithm in ("gemm_blocked", "gemm_skinny"):
                yield algorithm, {}, problem
            if problem.fields["b_layout"] == "row":
                yield "gemm_blocked", {"pack_b": 0, "pack_a": 1}, problem


def attention_problems() -> Iterator[tuple[str, dict[str, Any], Problem]]:
    for queries, keys in ((3, 37), (1, 1), (4, 64)):
        dims = {"q": (1, 2, queries, 64), "k": (1, 1, keys, 64), "v": (1, 1, keys, 64), "o": (1, 2, queries, 64)}
        problem = attention.ADAPTER.problem(sdpa_graph(dims))
        yield "attention_prefill", {}, problem
        yield "attention_decode", {"prefetch": 16}, problem


def job(code: CodeObject, library: Path, problem: Problem, grid: tuple[int, int, int]) -> dict[str, Any]:
    numbers, pointers = [], []
    spans = {operand.role: 4 * operand.elements for operand in problem.operands}
    for argument in code.signature:
        if argument.kind == "global_buffer":
            pointers.append((argument.offset, spans[argument.name]))
        else:
            numbers.append((_FORMATS[argument.type], argument.offset, problem.fields[argument.name]))
    return {
        "library": str(library),
        "symbol": code.symbol,
        "size": block_size(code.signature),
        "numbers": numbers,
        "pointers": pointers,
        "grid": grid,
    }


@pytest.mark.parametrize(
    ("family", "cases"), [(gemm, gemm_problems), (attention, attention_problems)], ids=["gemm", "attention"]
)
def test_kernels_stay_inside_their_tensors(bench: Bench, tmp_path: Path, family: Any, cases: Any) -> None:
    jobs, compiled = [], {}
    for algorithm, knobs, problem in cases():
        candidate = next(c for c in family.REGISTRY.candidates() if c.algorithm == algorithm)
        asked = family.ADAPTER.request(problem, bench.device.arch)
        spec = candidate.select_spec(replace(asked, tuning_knobs=tuple(sorted(knobs.items()))))
        library = tmp_path / f"{spec.kernel_name()}.so"
        if library not in compiled:
            source = candidate.build(spec, bench.device.arch)
            compiled[library] = compile_c(source, bench.device.arch, bench.toolchain)
            library.write_bytes(compiled[library].payload)
        jobs.append(job(compiled[library], library, problem, candidate.grid(spec, asked)))
    path = tmp_path / "jobs"
    path.write_bytes(pickle.dumps(jobs))
    done = subprocess.run([sys.executable, fenced_launch.__file__, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout.splitlines()[-1:]} ended with {done.returncode}: {done.stderr}"
    assert len(done.stdout.splitlines()) == len(jobs)
