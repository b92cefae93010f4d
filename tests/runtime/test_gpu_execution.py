"""GPU objects through the engine's own execution: bf16 tensors go to the device as bits and come back as numbers."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from attending_driver import METADATA
from winnow.steps.enumerate import selection_of
from winnow.steps.generate import write_catalog
from winnow.steps.pack import pack_engine

from winnow.compilers.triton import compile_triton, find_triton
from winnow.descriptors.tree import read_catalog
from winnow.devices.gpu import GpuDevice
from winnow.engine_dir import EngineDir
from winnow.families.attention_dense import ADAPTER, REGISTRY
from winnow.families.attention_dense.forward import build_attention_dense
from winnow.families.attention_dense.probes import probe_graphs
from winnow.runtime.execution import Execution
from winnow.runtime.load import load_engine
from winnow.runtime.serve import applicable, run_kernel
from winnow.selection.enumerate import enumerate_variants


@pytest.mark.parametrize(("spelled", "driver"), [("FP16", "HalfDriver"), ("BF16", "BfloatDriver")])
def test_half_precision_results_are_judged_as_numbers(spelled: str, driver: str) -> None:
    graph = probe_graphs({**METADATA, "dtype": spelled})[1]
    problem = ADAPTER.problem(graph)
    spec = REGISTRY.select(ADAPTER.request(problem, "gfx950")).spec
    code = compile_triton(build_attention_dense(spec, arch="gfx950"), "gfx950", find_triton())
    for name, state in ((driver, "passed"), (f"Wrong{driver}", "failed")):
        with (
            GpuDevice(f"attending_driver:{name}", name="host") as device,
            Execution(device, ADAPTER, problem, seed=0) as execution,
        ):
            module = device.load(code.payload, code.symbol, code.signature)
            assert execution.verify(module, (2, 4, 1)).state == state
            assert execution.time(module, (2, 4, 1), min_seconds=0, max_launches=3) == (1000,)


CELLS = """\
  cells:
  - {head_size: 64, num_query_heads: 4, num_kv_heads: 2, dtype: fp16, causal: true}
  space: slice
  slice:
  - knobs: [{block_m: [64, 128], block_n: 64}]
"""


def test_a_kernel_that_hangs_costs_itself_and_the_next_one_serves(tmp_path: Path) -> None:
    """From the selection over the packed objects to the verdict."""
    text = (files("winnow.engines") / "attention_gfx950" / "engine.yaml").read_text(encoding="utf-8")
    (tmp_path / "engine.yaml").write_text(re.sub(r"  cells:\n.*?(?=  budget:)", CELLS, text, flags=re.DOTALL))
    directory = EngineDir(tmp_path / "engine.yaml")
    manifest = directory.manifest
    directory.selection_file.write_text(selection_of(manifest, enumerate_variants(manifest)))
    write_catalog(manifest.manifest, directory.selection, directory.catalog)
    pack_engine(directory, read_catalog(directory.catalog), ["gfx950"], directory.archive, jobs=2)

    with GpuDevice("attending_driver:PickyDriver", name="host", timeout_s=3) as device:
        engine = load_engine(directory.archive, device.arch)
        problem, ranked = applicable(engine, probe_graphs({**METADATA, "dtype": "FP16"})[1])
        with Execution(device, engine.adapter, problem, seed=0) as execution:
            served = {
                kernel.metadata["block_m"]: run_kernel(engine, device, execution, kernel, min_seconds=0, max_launches=3)
                for kernel in sorted(ranked, key=lambda kernel: -kernel.metadata["block_m"])
            }
    assert list(served) == [128, 64]
    assert served[128].correctness.detail == "timeout: no answer within 3 s, so the worker was ended"
    assert (served[64].correctness.state, served[64].median_ns) == ("passed", 1000)
