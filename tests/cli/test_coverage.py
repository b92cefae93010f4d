"""Shapes as miners write them, asked of a built-in engine: what their numbers mean must not be lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from winnow.engines import copy_engine

SHAPE = {
    "batch": 1,
    "nhead_q": 32,
    "nhead_k": 8,
    "seqlen_q": 2048,
    "seqlen_k": 2048,
    "hdim_q": 128,
    "hdim_v": 128,
    "dtype": "fp32",
    "mask_type": 1,
    "sliding_window": 0,
    "use_sinks": False,
    "_provenance": {"source": "a model", "suite": "prefill", "graph": "llama_prefill"},
    "_provenance_occurrences": 3,
}


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from winnow.cli.app import run

    root = tmp_path_factory.mktemp("attention") / "engine"
    copy_engine("attention_cpu", root)
    assert run(["enumerate", "-m", str(root / "engine.yaml"), "--json"]) == 0
    return root


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({}, "covered", "attention_cpu_prefill"),
        ({"mask_type": 0}, "covered", "attention_cpu_prefill"),
        ({"mask_type": 2, "sliding_window": 256}, "outside", "mask_type=2: no kernel masks by a window"),
        ({"sliding_window": 256}, "outside", "sliding_window=256: no kernel masks by a window"),
        ({"use_sinks": True}, "outside", "use_sinks=true: no kernel has sinks"),
        ({"hdim_v": 64}, "outside", "hdim_q=128 and hdim_v=64 are one field of a request, head_size"),
    ],
)
def test_a_mined_shape_is_asked_as_it_was_meant(attention: Path, winnow, tmp_path, changes, outcome, reason):
    file = tmp_path / "m.shapes.json"
    file.write_text(json.dumps([SHAPE, {**SHAPE, **changes}]))
    code, out, _ = winnow(
        "coverage", "-m", attention / "engine.yaml", "--shapes", file, "--arch", "x86-64-v3", "--json"
    )
    assert code == 0
    assert json.loads(out)["results"][1] | {"kernels": 0} == {
        "shape": "llama_prefill",
        "arch": "x86-64-v3",
        "outcome": outcome,
        "reason": reason,
        "kernels": 0,
    }


def test_another_dtype_is_outside_by_capability(attention: Path, winnow, tmp_path: Path):
    file = tmp_path / "m.shapes.json"
    file.write_text(json.dumps([SHAPE, {**SHAPE, "dtype": "bf16"}]))
    told = json.loads(winnow("coverage", "-m", attention / "engine.yaml", "--shapes", file, "--json")[1])
    assert told["counts"] == {"outside": 3, "declined": 0, "covered": 3, "GAP": 0}
    assert "capability: " in told["results"][-1]["reason"]


def test_graphs_are_asked_through_the_family(attention: Path, winnow):
    code, out, _ = winnow("coverage", "-m", attention / "engine.yaml", "--corpus", attention / "corpus")
    assert code == 0
    assert out == (
        "            x86-64-v4  x86-64-v3  x86-64-generic\n"
        "  outside   0          0          0\n"
        "  declined  0          0          0\n"
        "  covered   23         23         23\n"
        "  GAP       0          0          0\n"
    )
