"""A device that runs toylang's objects, with NumPy."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import numpy as np

from winnow.devices.device import DeviceFault


class ToyBuffer:
    """Memory of the device, which is the host's."""

    def __init__(self, nbytes):
        self.bytes_ = np.zeros(nbytes, np.uint8)

    def guards_intact(self):
        return True

    def free(self):
        pass


@dataclass(frozen=True)
class ToyModule:
    symbol: str
    signature: tuple
    tile: int


class ToyDevice:
    """The one device of this machine."""

    arch = "toy1"

    def __init__(self, *, timeout_s=20.0):
        self.timeout_s = timeout_s

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fingerprint(self):
        return {"device": "toy", "arch": self.arch}

    def allocate(self, nbytes):
        return ToyBuffer(nbytes)

    def load(self, payload, symbol, signature):
        record = json.loads(payload)
        if record["symbol"] != symbol:
            raise DeviceFault("load", f"no symbol {symbol}")
        return ToyModule(symbol, tuple(signature), record["tile"])

    def launch(self, module, arguments, grid):
        x, y = (arguments[name].bytes_.view(np.float32) for name in ("x", "y"))
        for block in range(grid[0]):
            part = slice(block * module.tile, (block + 1) * module.tile)
            y[part] = x[part] * np.float32(arguments["factor"])

    def time(self, module, arguments, grid, *, min_seconds, max_launches):
        samples = []
        while not samples or (sum(samples) < min_seconds * 1e9 and len(samples) < max_launches):
            began = time.perf_counter_ns()
            self.launch(module, arguments, grid)
            samples.append(max(1, time.perf_counter_ns() - began))
        return tuple(samples)

    def close(self):
        pass
