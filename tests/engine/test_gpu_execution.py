"""GPU objects through the engine's own execution: bf16 tensors go to the device as bits and come back as numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from winnow.compilers.triton import compile_triton, find_triton
from winnow.devices.gpu import GpuDevice, Launch
from winnow.devices.gpu_memory import GUARD_BYTES
from winnow.engine.execution import Execution
from winnow.families.attention_dense import ADAPTER, REGISTRY
from winnow.families.attention_dense.forward import build_attention_dense
from winnow.families.attention_dense.probes import probe_graphs
from winnow.families.halves import bfloat16_bits, bfloat16_values

METADATA: dict[str, Any] = {
    "head_size": 64,
    "num_query_heads": 4,
    "num_kv_heads": 2,
    "causal": 1,
    "block_m": 128,
    "block_n": 64,
}


class AttendingDriver:
    """A device in host memory whose only kernel is the family's reference, off by `error`."""

    arch = "gfx950"
    launcher_gives_lds = False

    def __init__(self, problem: Any, data_type: str, error: float) -> None:
        self.problem, self.data_type, self.error = problem, data_type, error
        self.blocks: dict[int, np.ndarray] = {}

    def identity(self) -> Mapping[str, str | int]:
        return {}

    def allocate(self, nbytes: int) -> int:
        address = (len(self.blocks) + 1) << 32
        self.blocks[address] = np.zeros(nbytes, np.uint8)
        return address

    def free(self, address: int) -> None:
        self.blocks[address] = np.zeros(0, np.uint8)

    def upload(self, address: int, host: np.ndarray) -> None:
        self.blocks[address][:] = host

    def download(self, address: int, host: np.ndarray) -> None:
        host[:] = self.blocks[address]

    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> str:
        return symbol

    def timed(self, launch: Launch) -> int:
        self.run(launch)
        return 1000

    def close(self) -> None:
        """Nothing is held."""

    def run(self, launch: Launch) -> None:
        pointers = [value.value for value in launch.arguments if isinstance(value, ctypes.c_void_p)]
        memory = dict(zip("qkvo", pointers, strict=False))
        tensors = {operand.role: self.elements(memory[operand.role], operand) for operand in self.problem.operands}
        numbers = {role: self.numbers(tensors[role]) for role in "qkv"}
        result = ADAPTER.reference(self.problem, numbers)["o"].astype(np.float32) + np.float32(self.error)
        tensors["o"][...] = bfloat16_bits(result) if self.data_type == "bfloat16" else result

    def elements(self, address: int | None, operand: Any) -> np.ndarray:
        assert address is not None
        block = self.blocks[address - GUARD_BYTES][GUARD_BYTES:]
        dtype = np.dtype(np.uint16 if self.data_type == "bfloat16" else np.float16)
        strides = tuple(stride * dtype.itemsize for stride in operand.strides)
        return np.lib.stride_tricks.as_strided(block[: block.size // 2 * 2].view(dtype), operand.dims, strides)

    def numbers(self, elements: np.ndarray) -> np.ndarray:
        return bfloat16_values(elements) if self.data_type == "bfloat16" else elements


@pytest.mark.parametrize(("spelled", "data_type"), [("FP16", "half"), ("BF16", "bfloat16")])
@pytest.mark.parametrize(("error", "state"), [(0.0, "passed"), (0.1, "failed")])
def test_half_precision_results_are_judged_as_numbers(spelled: str, data_type: str, error: float, state: str) -> None:
    graph = probe_graphs({**METADATA, "dtype": spelled})[1]
    problem = ADAPTER.problem(graph)
    spec = REGISTRY.select(ADAPTER.request(problem, "gfx950")).spec
    code = compile_triton(build_attention_dense(spec, arch="gfx950"), "gfx950", find_triton())
    with (
        GpuDevice(AttendingDriver(problem, data_type, error)) as device,
        Execution(device, ADAPTER, problem, seed=0) as execution,
    ):
        module = device.load(code.payload, code.symbol, code.signature)
        assert execution.verify(module, (2, 4, 1)).state == state
        assert execution.time(module, (2, 4, 1), min_seconds=0, max_launches=3) == (1000,)
