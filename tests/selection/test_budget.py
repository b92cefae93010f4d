"""A budget that can be passed silently is none: every way past it needs a reason that is printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_files import FOREIGN_MANIFEST, foreign_engine

from winnow.errors import InputError
from winnow.selection.enumerate import walk_registry
from winnow.selection.project import varying
from winnow.settings.manifest import load_manifest


def manifest(tmp_path: Path, budget: str) -> Path:
    return foreign_engine(tmp_path, FOREIGN_MANIFEST.replace("  slice:\n", f"  budget: {budget}\n  slice:\n"))


def refusal(tmp_path: Path, budget: str) -> str:
    with pytest.raises(InputError) as caught:
        walk_registry(load_manifest(manifest(tmp_path, budget)))
    return str(caught.value).replace(str(tmp_path), "DIR")


ALLOWED = '{per_cell: 3, allow: [{when: {width: 64}, reason: "64 is the width that everyone runs"}]}'


def test_what_is_over_the_budget_is_in_the_ledger_and_the_counts_add_up(tmp_path: Path):
    enumeration = walk_registry(load_manifest(manifest(tmp_path, "{kernels: 7}")))
    assert enumeration.counts() == {"selected": 7, "refused": 2, "duplicate": 2, "over budget": 13}
    assert sum(enumeration.counts().values()) == sum(entry.points for entry in enumeration.ledger) == 24
    assert len(enumeration.variants) == 7
    assert str(enumeration.over).startswith(f"{tmp_path}/engine.yaml:26: enumerate.budget: 20 kernels, the budget is 7")


def test_an_allowance_lets_its_cells_past_and_says_why(tmp_path: Path):
    enumeration = walk_registry(load_manifest(manifest(tmp_path, ALLOWED)))
    assert enumeration.over is None
    assert enumeration.counts()["over budget"] == 0
    assert [str(one) for one in enumeration.allowed] == ["16 kernels in width=64: 64 is the width that everyone runs"]


def test_an_allowance_takes_its_cells_out_of_the_total(tmp_path: Path):
    budget = '{kernels: 4, allow: [{when: {width: 64}, reason: "r"}]}'
    assert walk_registry(load_manifest(manifest(tmp_path, budget))).over is None
    assert str(walk_registry(load_manifest(manifest(tmp_path, budget.replace("4", "3", 1)))).over).startswith(
        f"{tmp_path}/engine.yaml:26: enumerate.budget: 4 kernels, the budget is 3"
    )


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (
            '{per_cell: 4, allow: [{when: {width: 64}, reason: "r"}]}',
            "DIR/engine.yaml:26: enumerate.budget.allow[0]: this entry lets nothing past the budget\n"
            "  cure: take it out: what is allowed without need hides the next excess",
        ),
        (
            '{per_cell: 3, allow: [{when: {wide: 64}, reason: "r"}]}',
            'DIR/engine.yaml:26: enumerate.budget.allow[0].when.wide: "wide" is not a field of a cell\n'
            '  cure: did you mean "width"?',
        ),
        (
            "{per_cell: 3, allow: [{when: {width: 64}}]}",
            'DIR/engine.yaml:26: enumerate.budget.allow[0].reason: key "reason" is missing',
        ),
        (
            '{per_cell: 3, allow: [{when: {width: 64}, reason: ""}]}',
            "DIR/engine.yaml:26: enumerate.budget.allow[0].reason: String should have at least 1 character (value: '')",
        ),
    ],
)
def test_an_allowance_that_is_not_needed_or_not_sound_is_an_error(tmp_path: Path, budget: str, message: str):
    assert refusal(tmp_path, budget) == message


@pytest.mark.parametrize("command", ["enumerate", "plan"])
def test_commands_refuse_and_still_print_the_ledger(tmp_path: Path, winnow, command: str):
    code, out, err = winnow(command, "-m", manifest(tmp_path, "{kernels: 7}"))
    assert code == 1
    assert "  asked        24\n  selected      7\n  refused       2\n  duplicate     2\n  over budget  13\n" in out
    assert "enumerate.budget: 20 kernels, the budget is 7\n  cure: narrow the slice" in err
    assert not (tmp_path / "selection.yaml").exists()


def test_a_selection_that_grew_by_hand_is_refused_by_generate_and_by_the_gate(tmp_path: Path, winnow):
    path = manifest(tmp_path, "{kernels: 20, per_cell: 4}")
    assert winnow("enumerate", "-m", path)[0] == 0
    assert winnow("generate", "-m", path)[0] == 0
    assert winnow("check", "-m", path, "budget")[0] == 0
    path.write_text(path.read_text().replace("per_cell: 4", "per_cell: 3"))
    for arguments in (("generate", "-m", path), ("generate", "--check", "-m", path)):
        code, out, err = winnow(*arguments)
        assert code == 1
        assert out == ""
        assert "4 kernels of copy_tiled on gfx942 in the cell dtype=fp32, width=64, the budget is 3" in err
    code, out, _ = winnow("check", "-m", path, "budget")
    assert code == 1
    assert "budget: 4 kernels of copy_tiled on gfx942 in the cell dtype=fp32, width=64, the budget is 3" in out


def test_what_was_allowed_is_printed_wherever_the_budget_is_checked(tmp_path: Path, winnow):
    path = manifest(tmp_path, ALLOWED)
    said = "allowed past the budget: 16 kernels in width=64: 64 is the width that everyone runs"
    for arguments in (("enumerate",), ("plan",), ("generate",), ("check", "budget")):
        code, out, _ = winnow(arguments[0], "-m", path, *arguments[1:])
        assert code == 0
        assert said in out


def test_the_whole_space_of_a_built_in_engine_shows_every_knob_that_varies(tmp_path: Path, monkeypatch):
    from whole_space import skinny_engine

    from winnow.selection.author import kernels_of

    loaded = load_manifest(skinny_engine(tmp_path))
    enumeration = walk_registry(loaded)
    assert enumeration.counts() == {"selected": 2190, "refused": 0, "duplicate": 0, "over budget": 0}
    knobs = ["b_layout", "rows", "streams", "block", "unroll", "prefetch"]
    assert varying([variant.spec for variant in enumeration.variants]) == knobs
    assert varying([variant.metadata for variant in enumeration.variants if "max_m" in variant.metadata]) == [
        "b_layout",
        "max_m",
        *knobs[1:],
    ]
    names = [kernel.name for kernel in kernels_of(loaded, enumeration.variants)]
    assert len(set(names)) == 2190
    assert max(len(name.encode()) for name in names) <= 128


def test_a_space_past_the_budget_is_counted_not_listed(tmp_path: Path):
    from whole_space import skinny_engine

    enumeration = walk_registry(load_manifest(skinny_engine(tmp_path, "{kernels: 100}")))
    assert enumeration.counts() == {"selected": 100, "refused": 0, "duplicate": 0, "over budget": 2090}
    assert len(enumeration.ledger) < 110
    assert "2,190 kernels, the budget is 100" in str(enumeration.over)
