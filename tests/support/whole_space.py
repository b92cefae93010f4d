"""A manifest over one candidate of a built-in engine, small enough for its whole knob space to be listed."""

from __future__ import annotations

import io
from importlib.resources import files
from pathlib import Path

from ruamel.yaml import YAML

BLOCKED_ONLY = ("edge", "block_m", "block_n", "block_k", "reg_m", "reg_v", "unroll_k", "pack_a", "pack_b")


def skinny_engine(root: Path, budget: str = "{}") -> Path:
    """The built-in GEMM engine with its skinny candidate alone, on the generic target; returns the manifest."""
    yaml = YAML(typ="safe")
    record = yaml.load((files("winnow.engines") / "gemm_cpu" / "engine.yaml").read_text(encoding="utf-8"))
    record["engine"]["knobs"] = ["vec", "rows"]
    record["kmd_fields"] = [field for field in record["kmd_fields"] if field["name"] not in BLOCKED_ONLY]
    part = record["specialization"]
    part["metadata_fields"] = [name for name in part["metadata_fields"] if name not in BLOCKED_ONLY]
    for table in (part["bindings"], record["reduction"]["performance"]):
        for name in BLOCKED_ONLY:
            del table[name]
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
