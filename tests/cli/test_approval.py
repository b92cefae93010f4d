"""An approved plan is worth something only if whatever is not in it is refused, and the difference is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.fixture
def approved(small_engine: Path, winnow) -> Path:
    code, out, _ = winnow("plan", "-m", small_engine / "engine.yaml", "--approve", "--reason", "first round")
    assert code == 0, out
    return small_engine


def test_the_lock_says_what_was_approved_and_what_it_costs(approved: Path, winnow):
    lock = json.loads((approved / "plan.lock").read_text())
    assert lock["engine"] == "winnow:GemmCpu"
    assert lock["reason"] == "first round"
    assert (lock["objects"], len(lock["kernels"])) == (10, 10)
    assert sorted(lock["graphs"]) == sorted(path.stem for path in (approved / "corpus").glob("*.json"))
    assert lock["pairs"] > 4
    assert lock["estimate"]["compile_seconds"] > 0
    assert lock["estimate"]["sweep_seconds"] > 0
    before = (approved / "plan.lock").read_bytes()
    assert winnow("plan", "-m", approved / "engine.yaml", "--approve", "--reason", "first round")[0] == 0
    assert (approved / "plan.lock").read_bytes() == before


def test_what_was_approved_may_be_packed(approved: Path, winnow):
    assert winnow("pack", "-m", approved / "engine.yaml", "-j", "1")[0] == 0


def test_one_more_kernel_is_refused_by_name(approved: Path, winnow):
    edit(approved / "engine.yaml", "rows: [1, 8]", "rows: [1, 4, 8]")
    assert winnow("enumerate", "-m", approved / "engine.yaml")[0] == 0
    code, out, err = winnow("pack", "-m", approved / "engine.yaml")
    assert (code, out) == (1, "")
    added = [line for line in err.splitlines() if line.endswith("was added")]
    assert err.splitlines()[0] == (
        f"winnow: {approved}/plan.lock: the approved plan is not what there is to do ({len(added)} changes)"
    )
    assert added
    assert all(line.startswith("    kernel gemm_skinny.fp32_") and "_ro4_" in line for line in added)
    assert err.endswith("cure: look at what changed, then approve it: winnow plan --approve --reason TEXT\n")
    assert winnow("sweep", "-m", approved / "engine.yaml")[0] == 1


def test_a_removed_and_a_changed_kernel_are_named(approved: Path, winnow):
    edit(approved / "selection.yaml", "priority: ", "priority: 9")
    edit(approved / "selection.yaml", "rows: 8", "rows: 6")
    code, _, err = winnow("pack", "-m", approved / "engine.yaml")
    assert code == 1
    assert "is another one" in err
    assert "was removed" in err


def test_a_comment_in_the_selection_changes_nothing(approved: Path, winnow):
    edit(approved / "selection.yaml", "packs:", "# a remark\npacks:")
    assert winnow("pack", "-m", approved / "engine.yaml", "-j", "1")[0] == 0


def test_a_graph_that_was_not_approved_is_refused_by_the_sweep_and_not_by_the_pack(approved: Path, winnow):
    (approved / "corpus" / "vit_b16_classifier_encode_m8.json").unlink()
    code, _, err = winnow("sweep", "-m", approved / "engine.yaml")
    assert code == 1
    assert "graph vit_b16_classifier_encode_m8 was removed" in err
    assert winnow("pack", "-m", approved / "engine.yaml", "-j", "1")[0] == 0


def test_a_catalog_that_was_not_approved_is_refused(approved: Path, winnow):
    path = next((approved / "catalog").glob("*skinny*.kdp.json"))
    text = path.read_text()
    name = json.loads(text)["kernelDescriptors"][0]["name"]
    path.write_text(text.replace(f'"{name}"', '"stranger"'))
    code, _, err = winnow("pack", "-m", approved / "engine.yaml")
    assert code == 1
    assert "stranger is not in the approved plan" in err


def test_more_than_the_budget_needs_an_approval_even_where_it_is_allowed(small_engine: Path, winnow):
    manifest = small_engine / "engine.yaml"
    edit(
        manifest,
        "budget: {kernels: 200, per_cell: 32}",
        'budget: {kernels: 200, per_cell: 1, allow: [{reason: "the small engine of a test"}]}',
    )
    assert winnow("generate", "-m", manifest)[0] == 0
    code, _, err = winnow("pack", "-m", manifest)
    assert code == 1
    assert "the budget is 1, and no plan.lock approves more\n  cure: look at what changed" in err
    assert winnow("sweep", "-m", manifest)[0] == 1
    assert winnow("plan", "-m", manifest, "--approve", "--reason", "it is small")[0] == 0
    assert winnow("pack", "-m", manifest, "-j", "1")[0] == 0


def test_a_plan_over_its_budget_cannot_be_approved(small_engine: Path, winnow):
    edit(small_engine / "engine.yaml", "budget: {kernels: 200, per_cell: 32}", "budget: {kernels: 3}")
    code, _, err = winnow("plan", "-m", small_engine / "engine.yaml", "--approve", "--reason", "please")
    assert code == 1
    assert "10 kernels, the budget is 3" in err
    assert not (small_engine / "plan.lock").exists()


@pytest.mark.parametrize("options", [("--approve",), ("--reason", "x"), ("--approve", "--reason", " ")])
def test_approval_and_reason_go_together(small_engine: Path, winnow, options):
    code, _, err = winnow("plan", "-m", small_engine / "engine.yaml", *options)
    assert code == 2
    assert err == 'winnow: --approve and --reason go together\n  cure: winnow plan --approve --reason "why"\n'


def test_a_damaged_lock_is_unusable(approved: Path, winnow):
    edit(approved / "plan.lock", '"reason"', '"raeson"')
    code, _, err = winnow("pack", "-m", approved / "engine.yaml")
    assert code == 2
    assert 'plan.lock:4: raeson: unknown key "raeson"\n  cure: did you mean "reason"?' in err
