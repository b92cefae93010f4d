"""A reduced catalog that was cut too far must be refused by what was measured, whatever the reducer said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from winnow.steps.generate import write_catalog

from winnow.engine_dir import EngineDir
from winnow.selection.author import author
from winnow.selection.document import load_selection
from winnow.selection.expand import expand


@pytest.fixture
def reduced(small_engine: Path, winnow) -> Path:
    manifest = small_engine / "engine.yaml"
    assert winnow("sweep", "-m", manifest, "--rounds", "2")[0] == 0
    assert winnow("reduce", "-m", manifest)[0] == 0
    return small_engine


def rewrite(root: Path, keep) -> None:
    """Write the reduced selection and its catalog anew with the kernels that `keep` picks."""
    engine = EngineDir(root / "engine.yaml")
    kernels = [kernel for kernel in expand(engine.selection) if keep(kernel)]
    target = engine.reduced / "selection.yaml"
    target.write_text(author(engine.selection.selection, kernels))
    write_catalog(engine.manifest.manifest, load_selection(target), engine.reduced / "catalog")


def test_what_the_reducer_kept_passes(reduced: Path, winnow):
    code, out, _ = winnow("check", "-m", reduced / "engine.yaml", "reduction")
    assert code == 0, out
    assert "keep 5 graphs within their epsilon" in out


def test_a_graph_without_a_server_and_its_last_servers_are_named(reduced: Path, winnow):
    rewrite(reduced, lambda kernel: "skinny" in kernel.name)
    code, out, _ = winnow("check", "-m", reduced / "engine.yaml", "reduction")
    assert code == 1
    assert "qwen2_0_5b_k_proj_prefill_m128: no kept kernel is within" in out
    assert "it or one that admits the same has to stay: nothing else serves dtype=FLOAT, b_layout=col" in out


def test_a_cells_default_has_to_stay(reduced: Path, winnow):
    decisions = json.loads((reduced / "build" / "reduced" / "decisions.json").read_text())
    default = next(kept["kernel"] for kept in decisions["kept"] if any("default" in role for role in kept["roles"]))
    rewrite(reduced, lambda kernel: kernel.name != default)
    code, out, _ = winnow("check", "-m", reduced / "engine.yaml", "reduction")
    assert code == 1
    assert f"{default}: must be kept" in out


def test_a_reduced_catalog_that_was_edited_is_refused(reduced: Path, winnow):
    path = next((reduced / "build" / "reduced" / "catalog").glob("*.kdp.json"))
    path.write_text(path.read_text().replace('"vec": 4', '"vec": 8', 1))
    code, out, _ = winnow("check", "-m", reduced / "engine.yaml", "reduction")
    assert code == 1
    assert "differs from what the selection generates" in out


def test_rules_drop_no_more_than_they_say(reduced: Path, winnow):
    code, out, _ = winnow("reduce", "-m", reduced / "engine.yaml", "--apply-rules", "--json")
    assert code == 0
    result = json.loads(out)
    left = {kernel.name for kernel in expand(load_selection(reduced / "build" / "reduced" / "selection.yaml"))}
    gone = {name for rule in result["rules"]["rules"] for name in rule["drops"]}
    assert not left & gone
    assert set(result["rules"]["named"]) <= left


def test_a_budget_too_small_is_refused_with_what_it_takes(reduced: Path, winnow):
    code, _, err = winnow("reduce", "-m", reduced / "engine.yaml", "--budget", "1")
    assert code == 1
    assert "a budget of 1 kernel cannot serve every graph: it takes" in err
