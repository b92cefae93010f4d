"""A device without hardware and an engine without files: each kernel's behaviour is written in its payload."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.compilers.code_object import Argument
from winnow.devices.device import DeviceFault, Grid
from winnow.families.adapter import Declined, Field, Operand, Problem
from winnow.graphs.model import Graph, Node, Tensor
from winnow.identity import sha256_hex
from winnow.runtime.behaviour import Behaviour
from winnow.runtime.launcher import Launcher
from winnow.runtime.load import Engine, PackedKernel
from winnow.runtime.matching import Matcher
from winnow.settings.sweep import Sweep
from winnow.spaces.rules.expression import parse
from winnow.targets.tiers import Tier

GUARD = 16
SIGNATURE = (Argument("global_buffer", 8, 0, "x"), Argument("global_buffer", 8, 8, "y"))
QUICK = Sweep(rounds=4, min_seconds=1e-6, max_launches=5)


class PlantedBuffer:
    def __init__(self, nbytes: int) -> None:
        self._memory = np.full(nbytes + 2 * GUARD, 7, np.uint8)

    @property
    def bytes_(self) -> NDArray[np.uint8]:
        return self._memory[GUARD:-GUARD]

    def guards_intact(self) -> bool:
        return bool((self._memory[:GUARD] == 7).all() and (self._memory[-GUARD:] == 7).all())

    def free(self) -> None:
        pass


@dataclass(frozen=True)
class PlantedModule:
    symbol: str
    signature: tuple[Argument, ...]
    plan: dict[str, Any]


@dataclass
class PlantedDevice:
    """`calls` lists what was launched: ("launch" or "time", kernel, elements)."""

    arch: str = "x86-64-v3"
    state: str = "idle"
    noise: float = 0.0
    seed: int = 0
    calls: list[tuple[str, str, int]] = field(default_factory=list)
    die_after: int | None = None

    def fingerprint(self) -> Mapping[str, str | int]:
        return {"device": "planted", "state": self.state}

    def allocate(self, nbytes: int) -> PlantedBuffer:
        return PlantedBuffer(nbytes)

    def load(self, payload: bytes, symbol: str, signature: Sequence[Argument]) -> PlantedModule:
        plan = json.loads(payload)
        if plan["does"] == "unloadable":
            raise DeviceFault("load", f"no symbol {symbol}")
        return PlantedModule(symbol, tuple(signature), plan)

    def _begin(self, kind: str, module: PlantedModule, arguments: Mapping[str, Any]) -> int:
        elements = len(arguments["x"].bytes_) // 4
        self.calls.append((kind, module.plan["name"], elements))
        if self.die_after is not None and len(self.calls) > self.die_after:
            os.kill(os.getpid(), 9)
        does = module.plan["does"]
        if does == "loop" or does == f"loop when {kind}":
            raise DeviceFault("timeout", "no answer within 20 s")
        if does == "crash" or does == f"crash when {kind}":
            raise DeviceFault("crash", "SIGSEGV")
        return elements

    def launch(self, module: PlantedModule, arguments: Mapping[str, Any], grid: Grid) -> None:
        elements = self._begin("launch", module, arguments)
        x, y = (arguments[name].bytes_.view(np.float32) for name in ("x", "y"))
        y[:] = 2 * x
        if module.plan["does"] == "wrong":
            y[elements // 2] += 1
        if module.plan["does"] == "wrong on large" and elements > 100:
            y[0] = np.nan
        if module.plan["does"] == "spoil":
            x[0] = 5

    def time(
        self,
        module: PlantedModule,
        arguments: Mapping[str, Any],
        grid: Grid,
        *,
        min_seconds: float,
        max_launches: int,
    ) -> tuple[int, ...]:
        elements = self._begin("time", module, arguments)
        if module.plan["does"] == "zero":
            return (0,)
        key = sha256_hex(f"{self.seed} {len(self.calls)}")[:8]
        random = np.random.Generator(np.random.PCG64(int(key, 16)))
        samples: list[int] = []
        while not samples or (sum(samples) < min_seconds * 1e9 and len(samples) < max_launches):
            pace = module.plan["ns"].get(str(elements), module.plan["ns"]["*"])
            samples.append(max(1, round(pace * np.exp(self.noise * random.standard_normal()))))
        return tuple(samples)

    def close(self) -> None:
        pass


class PlantedFamily:
    """y = 2 x over n elements; graphs with an odd n are another family's."""

    name = "planted"

    def problem(self, graph: Graph) -> Problem:
        (n,) = graph.tensor(0).dims
        if n % 2:
            raise Declined(f"n={n} is odd")
        x, y = (Operand(role, i, (n,), (1,), "float", role == "y") for i, role in enumerate("xy"))
        return Problem({"n": n}, (x, y), n)

    def request(self, problem: Problem, arch: str) -> Any:
        raise NotImplementedError

    def inputs(self, problem: Problem, seed: int) -> dict[str, NDArray[Any]]:
        random = np.random.Generator(np.random.PCG64(seed))
        return {"x": random.standard_normal(problem.fields["n"]).astype(np.float32)}

    def reference(self, problem: Problem, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        return {"y": 2 * inputs["x"].astype(np.float64)}

    def tolerance(self, problem: Problem) -> tuple[float, float]:
        return 1e-6, 1e-6

    def score(self, metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
        return float(metadata["guess"])


def kernel(
    order: int,
    name: str,
    ns: float | Mapping[str, float],
    does: str = "right",
    *,
    step: int = 1,
    guess: float = 0.0,
    tier: Tier = Tier.EXPLICIT,
    priority: int = 0,
    version: int = 0,
) -> PackedKernel:
    """A kernel that takes `ns` nanoseconds, or so many for each number of elements ("*": for any other)."""
    times = dict(ns) if isinstance(ns, Mapping) else {"*": ns}
    payload = json.dumps({"name": name, "does": does, "ns": times, "version": version}).encode()
    metadata = {"step": step, "guess": guess, "order": order}
    return PackedKernel(
        name, f"id-{name}", metadata, priority, tier, f"k_{name}", payload, sha256_hex(payload), SIGNATURE, order
    )


def engine(*kernels: PackedKernel) -> Engine:
    """An engine over these kernels: each serves multiples of its `step`, and `guess` ranks them."""
    one = parse("1", names=None, place=None)
    matcher = Matcher((("n", "multiple_of", "step"),))
    return Engine(
        "test:Planted",
        "x86-64-v3",
        kernels,
        Behaviour(PlantedFamily(), matcher, Launcher((one, one, one), (one, one, one))),
        True,
    )


def graph(n: int, name: str | None = None) -> Graph:
    """y = 2 x over n elements."""
    x, y = (Tensor(i, role, (n,), (1,), "float", False) for i, role in enumerate("xy"))
    node = Node("double", "PointwiseAttributes", "float", {"in_0": 0}, {"out_0": 1})
    return Graph(name or f"double_{n}", "float", "float", "float", (x, y), (node,))
