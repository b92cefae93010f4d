"""A wrong, a lazy, an endless and a crashing kernel cost themselves: none is ranked, each is in the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from winnow.selection.document import load_selection
from winnow.selection.expand import expand
from winnow.targets.cpu import host_level

FAULTS = {
    "wrong": "expected",
    "partial": "nan",
    "endless": "time",
    "crash": "crash",
}


@pytest.fixture
def planted(small_engine: Path, winnow) -> Path:
    """The small engine with one kernel of each fault beside the good ones."""
    manifest = small_engine / "engine.yaml"
    text = manifest.read_text()
    builders = "".join(
        f"    planted_{fault}: {{source: planted_kernels, builder: build_{fault}}}\n" for fault in FAULTS
    )
    text = text.replace("  fixed: {", f"{builders}  fixed: {{", 1)
    text = text.replace(text[text.index("sweep: {") :].splitlines()[0], "sweep: {rounds: 2, timeout_seconds: 1.0}")
    # builders stand in the middle of `enumerate`: put them right behind the others
    lines = text.splitlines(keepends=True)
    moved = [line for line in lines if line.startswith("    planted_")]
    rest = [line for line in lines if not line.startswith("    planted_")]
    at = next(i for i, line in enumerate(rest) if line.startswith("    gemm_cpu_skinny: {source"))
    manifest.write_text("".join([*rest[: at + 1], *moved, *rest[at + 1 :]]))

    selection = small_engine / "selection.yaml"
    good = next(k for k in expand(load_selection(selection)) if k.spec.get("edge") == 1 and k.spec["b_layout"] == "col")
    added = "- name: planted\n  arch: [" + host_level() + "]\n  kernels:\n"
    for i, fault in enumerate(FAULTS):
        spec = {**good.spec, "block_k": (64, 192, 256, 384)[i]}
        metadata = {**good.metadata, "block_k": spec["block_k"]}
        source = {"kind": "c", "source": "planted_kernels", "builder": f"build_{fault}", "spec": spec}
        record = {"name": f"planted_{fault}", "kernel_source": source, "metadata": metadata, "priority": 1}
        added += f"  - {json.dumps(record)}\n"
    selection.write_text(selection.read_text() + added)
    for command in (["generate"], ["pack", "--arch", host_level()]):
        code, _, err = winnow(*command, "-m", manifest)
        assert code == 0, err
    return small_engine


def test_faulty_kernels_cost_themselves_and_nothing_else(planted: Path, winnow):
    manifest = planted / "engine.yaml"
    code, out, err = winnow("sweep", "-m", manifest, "--json")
    assert code == 0, err
    swept = json.loads(out)
    faulty = [row for row in swept["ledger"] if row["kernel"].startswith("planted_") and row["state"] != "declined"]
    assert {row["kernel"] for row in faulty} == {f"planted_{fault}" for fault in FAULTS}
    for row in faulty:
        assert row["state"] == "failed", row
        assert FAULTS[row["kernel"].removeprefix("planted_")] in row["reason"], row
    good = [row for row in swept["ledger"] if not row["kernel"].startswith("planted_")]
    assert {row["state"] for row in good} <= {"served", "declined"}
    assert sum(swept["counts"].values()) == len(swept["ledger"])

    code, out, err = winnow("reduce", "-m", manifest, "--json")
    assert code == 0, err
    reduced = json.loads(out)
    assert not [kept for kept in reduced["kept"] if kept["kernel"].startswith("planted_")]
    dropped = {row["kernel"]: row for row in reduced["dropped"]}
    for fault, sign in FAULTS.items():
        assert dropped[f"planted_{fault}"]["why"] == "unfit"
        assert sign in dropped[f"planted_{fault}"]["text"]
    assert not any(graph["best"].startswith("planted_") for graph in reduced["graphs"])


def test_a_wrong_kernel_that_the_engine_would_choose_is_shown_as_failed(planted: Path, winnow):
    text = (planted / "engine.yaml").read_text().replace("heuristic: native", "heuristic: none")
    (planted / "engine.yaml").write_text(text)
    selection = (planted / "selection.yaml").read_text().replace("heuristic: native", "heuristic: none")
    (planted / "selection.yaml").write_text(selection)
    assert winnow("generate", "-m", planted / "engine.yaml")[0] == 0
    assert winnow("pack", "-m", planted / "engine.yaml", "--arch", host_level())[0] == 0
    graph = planted / "corpus" / "qwen2_0_5b_k_proj_prefill_m128.json"
    code, out, _ = winnow("run", graph, "-m", planted / "engine.yaml", "--timeout", "1")
    assert code == 1
    assert "planted_" in out.splitlines()[1]
    assert "failed" in out.splitlines()[1]
    code, out, _ = winnow("check", "-m", planted / "engine.yaml", "serves")
    assert code == 1
    assert "planted_" in out
