"""A manifest over one candidate of a built-in engine, small enough for its whole knob space to be listed."""

from __future__ import annotations

import io
from importlib.resources import files
from pathlib import Path

from ruamel.yaml import YAML

BLOCKED_ONLY = ("edge", "block_m", "block_n", "block_k", "reg_m", "reg_v", "unroll_k", "pack_a", "pack_b")


def skinny_engine(root: Path, budget: str = "{}") -> Path:
    """The built-in GEMM engine with its skinny candidate alone, on the generic target; returns the manifest."""
    yaml = YAML()  # keeps the order of the fields
    record = yaml.load((files("winnow.engines") / "gemm_cpu" / "engine.yaml").read_text(encoding="utf-8"))
    record["fields"] = {name: entry for name, entry in record["fields"].items() if name not in BLOCKED_ONLY}
    plan = record["enumerate"]
    plan["candidates"] = {"arch": ["x86-64-generic"], "names": ["gemm_cpu_skinny"]}
    plan["space"] = "full"
    plan["budget"] = yaml.load(budget)
    plan["slice"] = []
    record["launch_surface"] = {"grid": [1, 1, 1]}
    stream = io.StringIO()
    yaml.dump(record, stream)
    path = root / "engine.yaml"
    path.write_text(stream.getvalue())
    return path
