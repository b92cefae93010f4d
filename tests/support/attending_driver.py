"""GPU drivers in host memory, for a worker to import, whose only kernel is attention by the family's own reference."""

from __future__ import annotations

import ctypes
import time
from typing import Any, ClassVar

import numpy as np
from host_driver import HostDriver

from winnow.devices.gpu_driver import Launch
from winnow.families.attention_dense import ADAPTER
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
"""What the kernel's one problem is made from: the graph that `probe_graphs` puts second."""


class HalfDriver(HostDriver):
    """Half precision; `error` is added to every result."""

    spelled: ClassVar[str] = "FP16"
    error: ClassVar[float] = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.problem = ADAPTER.problem(probe_graphs({**METADATA, "dtype": self.spelled})[1])

    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> str:
        return symbol

    def timed(self, launch: Launch) -> int:
        self.run(launch)
        return 1000

    def run(self, launch: Launch) -> None:
        pointers = [value.value for value in launch.arguments if isinstance(value, ctypes.c_void_p)]
        memory = dict(zip("qkvo", pointers, strict=False))
        tensors = {operand.role: self.elements(memory[operand.role], operand) for operand in self.problem.operands}
        numbers = {role: self.numbers(tensors[role]) for role in "qkv"}
        result = ADAPTER.reference(self.problem, numbers)["o"].astype(np.float32) + np.float32(self.error)
        tensors["o"][...] = bfloat16_bits(result) if self.spelled == "BF16" else result

    def elements(self, address: int, operand: Any) -> np.ndarray:
        dtype = np.dtype(np.uint16 if self.spelled == "BF16" else np.float16)
        block = self.at(address, operand.elements * dtype.itemsize).view(dtype)
        strides = tuple(stride * dtype.itemsize for stride in operand.strides)
        return np.lib.stride_tricks.as_strided(block, operand.dims, strides)

    def numbers(self, elements: np.ndarray) -> np.ndarray:
        return bfloat16_values(elements) if self.spelled == "BF16" else elements


class WrongHalfDriver(HalfDriver):
    error = 0.1


class BfloatDriver(HalfDriver):
    spelled = "BF16"


class WrongBfloatDriver(BfloatDriver):
    error = 0.1


class PickyDriver(HalfDriver):
    """A kernel with tiles of 128 queries never returns."""

    def run(self, launch: Launch) -> None:
        while "m128" in launch.function:
            time.sleep(1)
        super().run(launch)
