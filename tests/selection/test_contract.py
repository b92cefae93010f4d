"""A registry is taken at its word, and a word that it does not keep is an error that says who broke it and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import foreign_policy
import foreign_registry
import pytest
from engine_files import FOREIGN_MANIFEST, POLICY_MANIFEST, foreign_engine
from foreign_walks import refusal, walked

from winnow.selection.author import author, kernels_of
from winnow.selection.enumerate import walk_registry
from winnow.settings.manifest import load_manifest


def test_an_opt_in_candidate_is_reached_by_a_pin_alone(tmp_path: Path):
    unpinned = walked(tmp_path, POLICY_MANIFEST)
    assert {variant.candidate for variant in unpinned.variants} == {"sum_rows"}
    assert [(e.outcome, e.reason, e.points) for e in unpinned.ledger if e.candidate == "sum_fast"] == [
        ("refused", "opt-in: pin its algorithm to reach it", 1)
    ] * 2
    for edit in (
        ("candidates: {arch: [gfx950]}", "candidates: {arch: [gfx950], algorithm: sum_fast}"),
        ("  fixed:", "  pin: {algorithm: sum_fast}\n  fixed:"),
    ):
        pinned = walked(tmp_path, POLICY_MANIFEST, edit)
        assert {variant.candidate for variant in pinned.variants} == {"sum_fast"}


def test_a_pinned_algorithm_refuses_the_others_in_the_ledger(tmp_path: Path):
    pinned = walked(tmp_path, POLICY_MANIFEST, ("  fixed:", "  pin: {algorithm: sum_fast}\n  fixed:"))
    assert {e.reason for e in pinned.ledger if e.candidate == "sum_rows"} == {"algorithm sum_fast is pinned"}


def test_requests_that_pin_nothing_are_sliced_by_their_sweep_space(tmp_path: Path):
    sliced = walked(tmp_path, POLICY_MANIFEST, ("space: production", "space: slice"))
    assert [v.spec["block"] for v in sliced.variants] == [32, 32]
    missed = walked(tmp_path, POLICY_MANIFEST, ("space: production", "space: slice"), ("{block: 32}", "{block: 48}"))
    assert missed.counts()["selected"] == 0
    assert "no spec of the sweep space has block=48" in {entry.reason for entry in missed.ledger}


def test_a_candidate_without_a_space_has_no_full_one(tmp_path: Path):
    assert refusal(tmp_path, POLICY_MANIFEST, ("space: production", "space: full")) == (
        "DIR/engine.yaml:19: enumerate.space: candidate sum_rows has no tuning space\n"
        "  cure: use the space `production` or `slice`"
    )


def listed_space(*points: dict[str, int], count: int):
    return lambda self, request: SimpleNamespace(
        knobs=("tile", "unroll"), count=lambda: count, enumerate=lambda: iter(points)
    )


@pytest.mark.parametrize("count", [1, 3])
def test_a_space_that_counts_otherwise_than_it_lists_is_an_error(tmp_path: Path, monkeypatch, count: int):
    space = listed_space({"tile": 16}, {"tile": 32}, count=count)
    monkeypatch.setattr(foreign_registry.Copy, "space", space, raising=False)
    message = refusal(tmp_path, FOREIGN_MANIFEST, ("  slice:\n", "  space: full\n  slice:\n"))
    assert message == (
        f"DIR/engine.yaml:20: enumerate.registry: the space of copy_tiled counts {count} points and lists 2 "
        "(cell dtype=fp32, width=64)"
    )


def test_a_space_whose_points_cannot_be_pinned_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(foreign_policy.Sum, "space", listed_space({"block": 32}, count=1), raising=False)
    assert refusal(tmp_path, POLICY_MANIFEST, ("space: production", "space: full")) == (
        "DIR/engine.yaml:19: enumerate.space: foreign_policy:SumRequest has no tuning_knobs, so no point of a space "
        "can be asked for\n  cure: use the space `production` or `slice`"
    )


def test_a_cell_that_no_slice_rule_is_for_is_in_the_ledger(tmp_path: Path):
    rule = "  - {when: {width: 96, arch: gfx950}, knobs: [{tile: [32, 64]}]}\n"
    enumeration = walked(tmp_path, FOREIGN_MANIFEST, (rule, ""))
    assert [
        (entry.arch, entry.cell["width"], entry.outcome)
        for entry in enumeration.ledger
        if entry.reason == "no slice rule is for this candidate and cell"
    ] == [("gfx950", 96, "refused")] * 2


def test_admitting_without_a_spec_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuses(self, request):
        raise ValueError("the policy knows no tile for it")

    monkeypatch.setattr(foreign_policy.Sum, "sweep_space", lambda self, request: iter(()))
    monkeypatch.setattr(foreign_policy.Sum, "select_spec", refuses)
    assert refusal(tmp_path, POLICY_MANIFEST) == (
        "DIR/engine.yaml:13: enumerate.registry: candidate sum_rows admits this and then builds no spec: "
        "the policy knows no tile for it (cell dtype=fp32)\n"
        "  cure: its predicate must refuse what its policy cannot build"
    )


def test_admitting_a_pin_without_a_spec_is_an_error_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(foreign_registry.Copy, "admits", lambda self, request: (True, ""))
    message = refusal(tmp_path, FOREIGN_MANIFEST)
    assert (
        "candidate copy_tiled admits this and then builds no spec: tile 64 does not divide the width 96 "
        "(cell dtype=fp32, width=96, tile=64)"
    ) in message


@pytest.mark.parametrize("kind", [ValueError, KeyError, ZeroDivisionError])
def test_a_predicate_that_raises_is_an_error_whatever_it_raises(tmp_path: Path, monkeypatch, kind):
    def raises(self, request):
        raise kind("odd")

    monkeypatch.setattr(foreign_policy.Sum, "admits", raises)
    message = refusal(tmp_path, POLICY_MANIFEST)
    assert f"candidate sum_rows raised {kind.__name__}: " in message
    assert "(cell dtype=fp32)" in message


@dataclass(frozen=True)
class _ListSpec:
    dtype: str
    block: int
    order: tuple[int, ...] = (1, 0)
    persistent: bool = False


def test_a_field_that_no_descriptor_can_hold_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(foreign_policy.Sum, "sweep_space", lambda self, request: iter([_ListSpec(request.dtype, 32)]))
    assert refusal(tmp_path, POLICY_MANIFEST) == (
        "DIR/engine.yaml:13: enumerate.registry: candidate sum_rows: spec field order cannot be projected: "
        "a descriptor cannot hold a tuple ((1, 0)) (cell dtype=fp32)\n"
        "  cure: keep numbers, text and booleans in specs"
    )


def test_a_knob_that_varies_without_a_metadata_field_is_an_error(tmp_path: Path):
    edits = (
        ("- {name: unroll, type: int, default_value: 1}\n", ""),
        ("tile, unroll, lanes]", "tile, lanes]"),
        ("    unroll: {field: unroll}\n", ""),
        ("unroll: {}, ", ""),
    )
    assert refusal(tmp_path, FOREIGN_MANIFEST, *edits) == (
        "DIR/engine.yaml:11: specialization.bindings: candidate copy_tiled: unroll varies on gfx942 and no metadata "
        "field is bound to it, so kernels that differ in it only would be one to every matcher "
        "(cell dtype=fp32, width=64)\n"
        "  cure: declare unroll in kmd_fields and in specialization, with a binding {field: unroll}"
    )


def test_a_request_that_lacks_a_field_is_named(tmp_path: Path):
    message = refusal(tmp_path, POLICY_MANIFEST, ("  fixed: {rows: 256}\n", ""))
    assert message.startswith("DIR/engine.yaml:16: enumerate.cells: foreign_policy:SumRequest takes no such request: ")
    assert "'rows' (cell dtype=fp32)" in message


def test_a_candidate_that_nobody_builds_is_named(tmp_path: Path):
    message = refusal(
        tmp_path, FOREIGN_MANIFEST, ("  builders: {copy_tiled: {source: foreign_registry, builder: build_copy}}\n", "")
    )
    assert message == (
        "DIR/engine.yaml:19: enumerate.builders: nothing says which function builds the kernels of copy_tiled\n"
        "  cure: add copy_tiled: {source: MODULE, builder: FUNCTION}"
    )


def test_a_long_spec_has_a_short_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    long = "x" * 100
    monkeypatch.setattr(foreign_registry.Copy, "algorithm", long)
    loaded = load_manifest(foreign_engine(tmp_path))
    variants = walk_registry(loaded).variants
    names = [kernel.name for kernel in kernels_of(loaded, variants)]
    assert len(set(names)) == len(names)
    assert max(len(name) for name in names) <= 128
    assert author(loaded.manifest, kernels_of(loaded, variants), ["dtype", "width"])


def test_a_cell_field_may_be_spelled_otherwise_in_requests(tmp_path: Path):
    enumeration = walked(
        tmp_path,
        FOREIGN_MANIFEST,
        ("width: [64, 96]}", "row_bytes: [64, 96]}"),
        ("  slice:\n", "  field_map: {row_bytes: [width]}\n  slice:\n"),
        ("{when: {width: 64}", "{when: {row_bytes: 64}"),
        ("{when: {width: 96, arch: gfx950}", "{when: {row_bytes: 96, arch: gfx950}"),
        ("{when: {width: 96, arch: gfx942}", "{when: {row_bytes: 96, arch: gfx942}"),
    )
    assert enumeration.counts()["selected"] == 20
    assert {variant.spec["width"] for variant in enumeration.variants} == {64, 96}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            ("{arch: [gfx950]}", "{arch: [gfx950], algorithm: sum_row}"),
            'DIR/engine.yaml:15: enumerate.candidates.algorithm: no candidate has the algorithm "sum_row"\n'
            '  cure: did you mean "sum_rows"?',
        ),
        (
            ("  fixed:", "  builders: {sum_row: {source: a, builder: b}}\n  fixed:"),
            'DIR/engine.yaml:16: enumerate.builders.sum_row: no candidate is called "sum_row"\n'
            '  cure: did you mean "sum_rows"?',
        ),
        (
            ("{dtype: {fp32: FLOAT}}", "{dtype: {fp31: FLOAT}}"),
            'DIR/engine.yaml:13: enumerate.registry: candidate sum_rows: "fp32" is not a spelling of dtype that '
            'specialization.vocabulary maps (cell dtype=fp32)\n  cure: did you mean "fp31"?',
        ),
    ],
)
def test_a_spelling_that_nothing_has_is_named(tmp_path: Path, edit, message: str):
    assert refusal(tmp_path, POLICY_MANIFEST, edit) == message
