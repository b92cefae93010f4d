"""The gates between registry, selection and graphs: budget, vocabulary and coverage, each seen to refuse."""

from __future__ import annotations

from pathlib import Path

import pytest


def edit(path: Path, old: str, new: str, count: int = 1) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


def check(winnow, engine: Path, gate: str) -> tuple[int, str]:
    code, out, err = winnow("check", "-m", engine / "engine.yaml", gate)
    return code, out + err


def test_a_lower_case_dtype_is_refused_although_the_map_makes_it(small_engine: Path, winnow):
    """The trap: metadata that agrees with the map that made it, and that no graph ever matches."""
    assert check(winnow, small_engine, "vocabulary")[0] == 0
    for file in ("engine.yaml", "selection.yaml"):
        edit(small_engine / file, "fp32: FLOAT", "fp32: float")
    code, out = check(winnow, small_engine, "vocabulary")
    assert code == 1
    assert 'dtype=fp32: is spelled "float", which no graph says; ' in out
    assert "gemm_blocked.fp32_row_ed1_bm48_bn64_bk128_rm2_rv2_ve4_uk1_pa0_pb1" in out
    assert check(winnow, small_engine, "header")[0] == 0
    assert check(winnow, small_engine, "registry")[0] == 0


def test_a_field_that_the_family_does_not_spell_is_refused(small_engine: Path, winnow):
    edit(small_engine / "engine.yaml", "  dtype: equal\n", "  dtype: equal\n  data_kind: {equal: b_layout}\n")
    edit(small_engine / "engine.yaml", "  b_layout: equal\n", "")
    code, out = check(winnow, small_engine, "vocabulary")
    assert code == 1
    assert "the family does not say how graphs spell data_kind" in out


def test_the_families_words_are_what_their_problems_say():
    """The vocabulary is only worth something if problems really carry those words and no others."""
    from importlib.resources import files

    from winnow.families.find import find_family
    from winnow.graphs.reader import read_corpus

    for engine, family in (("gemm_cpu", "gemm"), ("attention_cpu", "attention")):
        adapter = find_family(family)
        for graph in read_corpus(Path(str(files("winnow.engines") / engine / "corpus"))):
            texts = {n: v for n, v in adapter.problem(graph).fields.items() if isinstance(v, str)}
            assert set(texts) == set(adapter.vocabulary)
            assert all(value in adapter.vocabulary[name] for name, value in texts.items())


def test_a_graph_that_only_the_registry_serves_is_a_gap(small_engine: Path, winnow):
    code, out = check(winnow, small_engine, "coverage")
    assert code == 0, out
    selection = small_engine / "selection.yaml"
    lines = selection.read_text().splitlines(keepends=True)
    selection.write_text("".join(line for line in lines if "{b_layout: col" not in line))
    code, out = check(winnow, small_engine, "coverage")
    assert code == 1
    assert "GAP" in out
    assert "gemm_cpu_blocked serves it; " in out or "gemm_cpu_skinny serves it; " in out
    assert "b_layout=col is not equal to b_layout=row" in out


def test_a_corpus_of_which_nothing_is_served_is_no_pass(small_engine: Path, winnow):
    for path in (small_engine / "corpus").glob("*.json"):
        path.write_text(path.read_text().replace('"float"', '"half"'))
    code, out = check(winnow, small_engine, "coverage")
    assert code == 1
    assert "nothing of the corpus is served: the family declines it: " in out


@pytest.mark.parametrize("budget", ["{kernels: 9}", "{per_cell: 1}"])
def test_a_selection_over_its_budget_is_refused(small_engine: Path, winnow, budget: str):
    assert check(winnow, small_engine, "budget")[0] == 0
    edit(small_engine / "engine.yaml", "budget: {kernels: 200, per_cell: 32}", f"budget: {budget}")
    code, out = check(winnow, small_engine, "budget")
    assert code == 1
    assert "the budget is " in out


def test_a_spec_whose_tuning_id_changed_is_refused(small_engine: Path, winnow, monkeypatch: pytest.MonkeyPatch):
    """A changed default is part of a tuning id: requests that pin the old one would not find the kernel."""
    from winnow.families.gemm.spec import SkinnySpec

    calls = iter(range(1000))
    monkeypatch.setattr(SkinnySpec, "tuning_id", property(lambda self: f"{self.variant_id}@{next(calls)}"))
    code, out = check(winnow, small_engine, "registry")
    assert code == 1
    assert "its tuning id is " in out
