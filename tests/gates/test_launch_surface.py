"""A launch that descriptors describe wrongly computes a part of the result, or reads past it; text cannot show that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from planted_descriptors import change

from winnow.families.gemm import abi


def check(winnow: Any, engine: Path) -> tuple[int, str]:
    code, out, err = winnow("check", "-m", engine / "engine.yaml", "launch-surface")
    assert err == ""
    return code, out


def surface(engine: Path, **changes: Any) -> str:
    """Change the launch surface or the matching of the engine's descriptor; returns its first kernel's name."""
    path = next((engine / "catalog").glob("*.ued.json"))
    change(path, lambda d: [d["x-winnow"][key].update(value) for key, value in changes.items()])
    pack = min((engine / "catalog").glob("*.kdp.json"))
    return str(json.loads(pack.read_text())["kernelDescriptors"][0]["name"])


def test_every_kernel_is_asked_several_times(small_engine: Path, winnow):
    code, out = check(winnow, small_engine)
    assert code == 0
    requests = int(out.split("kernels, ")[1].split()[0])
    assert requests > 100


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ([1, "batch", 1], "grid is (1, "),
        (["ceil(n / block_n)", "batch", 1], "grid is ZeroDivisionError: "),
        (["n // block_n if block_n > 0 else 1", "batch", 1], "by its descriptor, ("),
    ],
)
def test_a_wrong_grid_is_refused(small_engine: Path, winnow, grid: list, message: str):
    surface(small_engine, launch_surface={"grid": grid})
    code, out = check(winnow, small_engine)
    assert code == 1
    assert message in out
    assert "by its candidate, for dtype=FLOAT, b_layout=" in out


def test_a_wrong_block_is_refused(small_engine: Path, winnow):
    surface(small_engine, launch_surface={"block": [64, 1, 1]})
    code, out = check(winnow, small_engine)
    assert code == 1
    assert "block is (64, 1, 1) by its descriptor, (1, 1, 1) by its candidate" in out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"launch_surface": {"grid": ["waves", 1, 1]}},
            'the launch surface reads "waves", which is neither declared metadata nor a problem\'s field',
        ),
        ({"match": {"n": {"multiple_of": "n_div"}}}, 'matching reads "n_div", which is not declared metadata'),
        ({"match": {"pages": "equal"}}, 'matching reads the field "pages", which no problem of the corpus has'),
    ],
)
def test_a_read_of_what_is_not_declared_is_refused(small_engine: Path, winnow, changes: dict, message: str):
    name = surface(small_engine, **changes)
    code, out = check(winnow, small_engine)
    assert code == 1
    assert f"{name}: {message}" in out


def test_a_source_with_other_arguments_than_its_candidate_is_refused(
    small_engine: Path, winnow, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("winnow.families.gemm.blocked.PARAMETERS", abi.PARAMETERS[:-1])
    code, out = check(winnow, small_engine)
    assert code == 1
    assert "stride_cb: i64, its candidate's signature is a: ptr, b: ptr, c: ptr, batch: i32" in out


def test_an_argument_that_no_problem_has_is_refused(small_engine: Path, winnow, monkeypatch: pytest.MonkeyPatch):
    from winnow.families.gemm.adapter import GemmAdapter

    whole = GemmAdapter.problem

    def without_stride(self: Any, graph: Any) -> Any:
        problem = whole(self, graph)
        del problem.fields["stride_cm"]
        return problem

    monkeypatch.setattr(GemmAdapter, "problem", without_stride)
    code, out = check(winnow, small_engine)
    assert code == 1
    assert 'its argument "stride_cm" is of type i64, and no problem has such a field' in out


def test_a_shipped_signature_in_another_order_is_refused(small_engine: Path, winnow):
    path = next((small_engine / "build" / "archive").rglob("*blocked*.kdp.json"))
    record = change(path, lambda d: d["kernelDescriptors"][0]["kernel_source"]["signature"].reverse())
    code, out = check(winnow, small_engine)
    assert code == 1
    assert f"{record['kernelDescriptors'][0]['name']}: its object takes stride_cm, " in out
