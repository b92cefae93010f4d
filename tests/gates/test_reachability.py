"""A kernel that no graph can select is compiled, shipped and loaded for nothing; half of a catalog once was."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from planted_descriptors import change_kernel


def check(winnow, engine: Path, *options: str) -> tuple[int, str]:
    code, out, _ = winnow("check", "-m", engine / "engine.yaml", "reachability", *options)
    return code, out


def test_every_kernel_is_classified_once(small_engine: Path, winnow):
    code, out = check(winnow, small_engine, "--json")
    assert code == 0
    found = re.findall(r"(\d+) (SELECTED|APPLICABLE|UNREACHABLE)", json.loads(out)[0]["summary"])
    counts = {state: int(count) for count, state in found}
    assert counts["SELECTED"] >= 1
    assert sum(counts.values()) == 10


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"n_multiple": 7919}, "is not a multiple of n_multiple=7919"),
        ({"dtype": "float"}, "dtype=FLOAT is not equal to dtype=float"),
        ({"max_m": 0}, "is not at most max_m=0"),
    ],
)
def test_a_kernel_that_no_graph_can_select_is_named(small_engine: Path, winnow, metadata: dict, reason: str):
    name = change_kernel(small_engine, lambda k: k["metadata"].update(metadata))
    code, out = check(winnow, small_engine)
    assert code == 1
    assert f"{name}: UNREACHABLE: no graph of the corpus can select it: " in out
    assert reason in out


def test_a_kernel_behind_a_closer_one_is_unreachable(small_engine: Path, winnow):
    """With equal metadata, the one that names the device itself is served on every device of the generic one."""
    metadata: dict = {}
    change_kernel(small_engine, lambda k: metadata.update(k["metadata"]), 0)
    name = change_kernel(small_engine, lambda k: k.update(metadata=metadata, arch=[]), 1)
    code, out = check(winnow, small_engine)
    assert code == 1
    assert f"{name}: UNREACHABLE: no device and no graph of the corpus comes to it" in out


def test_without_a_corpus_the_answer_is_incomplete(small_engine: Path, winnow):
    shutil.rmtree(small_engine / "corpus")
    code, out = check(winnow, small_engine)
    assert code == 3
    assert "nothing says what users run" in out
