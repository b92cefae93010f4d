"""A knob left to the kernel's policy has the value that its accessor tells, and selections say so."""

from __future__ import annotations

from pathlib import Path

import foreign_policy
import foreign_registry
import pytest
from engine_files import FOREIGN_MANIFEST, POLICY_MANIFEST, foreign_engine
from foreign_walks import refusal, walked

from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Place
from winnow.gates.checks import registry
from winnow.gates.inspection import Inspection
from winnow.selection.author import author
from winnow.selection.document import parse_selection
from winnow.selection.enumerate import walk_registry
from winnow.selection.expand import expand
from winnow.selection.kernel import Kernel
from winnow.settings.manifest import load_manifest
from winnow.steps.enumerate import selection_of

DENSE = Path(__file__).parents[1] / "data" / "hipdnn" / "gfx950_attention_dense.yaml"


def test_a_knob_left_to_policy_has_the_value_that_the_accessor_tells(tmp_path: Path):
    enumeration = walked(tmp_path, POLICY_MANIFEST)
    assert [(dict(v.spec), v.metadata["persistent"]) for v in enumeration.variants] == [
        ({"dtype": "fp32", "block": 32}, 0),
        ({"dtype": "fp32", "block": 32, "persistent": True}, 1),
        ({"dtype": "fp32", "block": 64}, 1),
        ({"dtype": "fp32", "block": 64, "persistent": False}, 0),
    ]


def test_the_selection_says_what_policy_decides_and_expands_to_the_same_kernels(tmp_path: Path):
    loaded = load_manifest(foreign_engine(tmp_path, POLICY_MANIFEST))
    enumeration = walk_registry(loaded)
    text = selection_of(loaded, enumeration)
    assert "policy_knobs: [persistent]" in text
    expanded = expand(parse_selection(text, "s.yaml"))
    assert [(dict(k.spec), dict(k.metadata)) for k in expanded] == [
        (dict(v.spec), dict(v.metadata)) for v in enumeration.variants
    ]
    (tmp_path / "selection.yaml").write_text(text)
    assert registry.check(Inspection(EngineDir(tmp_path / "engine.yaml"))).state == "passed"


def test_a_policy_that_is_one_for_a_whole_shape_is_resolved_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    only_unset = lambda self, request: iter([foreign_policy.SumSpec(request.dtype, b) for b in (16, 32)])  # noqa: E731
    monkeypatch.setattr(foreign_policy.Sum, "sweep_space", only_unset)
    loaded = load_manifest(foreign_engine(tmp_path, POLICY_MANIFEST))
    text = selection_of(loaded, walk_registry(loaded))
    assert "resolved: {persistent: 0}" in text


def test_a_knob_left_to_policy_without_an_accessor_is_an_error(tmp_path: Path):
    assert refusal(tmp_path, POLICY_MANIFEST, ("  accessors: {persistent: resolved_persistent}\n", "")) == (
        'DIR/engine.yaml:13: enumerate.registry: candidate sum_rows: SumSpec leaves "persistent" to the kernel\'s '
        "policy, and nothing says what it decides (cell dtype=fp32)\n"
        "  cure: add persistent to enumerate.accessors, with the spec's method that says it"
    )


def test_an_accessor_that_no_spec_has_is_an_error(tmp_path: Path):
    message = refusal(tmp_path, POLICY_MANIFEST, ("persistent: resolved_persistent", "persistent: resolved"))
    assert message == (
        'DIR/engine.yaml:22: enumerate.accessors.persistent: candidate sum_rows: SumSpec has no "resolved", '
        "the accessor of persistent (cell dtype=fp32)"
    )


NO_METHOD = "\n  cure: make it one (a property is none), or bind a field of the spec: {field: NAME}"


def test_a_binding_and_an_accessor_that_name_a_property_are_errors_with_their_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    loaded = load_manifest(foreign_engine(tmp_path, FOREIGN_MANIFEST))
    (tmp_path / "selection.yaml").write_text(selection_of(loaded, walk_registry(loaded)))
    monkeypatch.setattr(foreign_registry.CopySpec, "lanes", property(lambda self: self.tile // 4))
    cell = "(cell dtype=fp32, width=64, tile=16, unroll=1)"
    problem = "CopySpec.lanes is not a method without arguments"
    place = "DIR/engine.yaml:17: specialization.bindings.lanes: "
    assert refusal(tmp_path, FOREIGN_MANIFEST) == f"{place}candidate copy_tiled: {problem} {cell}{NO_METHOD}"
    with pytest.raises(InputError) as caught:
        registry.check(Inspection(EngineDir(tmp_path / "engine.yaml")))
    assert str(caught.value).replace(str(tmp_path), "DIR") == f"{place}{problem}{NO_METHOD}"
    assert refusal(tmp_path, FOREIGN_MANIFEST, ("lanes: {method: lanes}", "lanes: {field: lanes}")) == (
        f"{place}candidate copy_tiled: CopySpec.lanes is not a field of the spec {cell}\n"
        "  cure: name a field, or bind a method without arguments: {method: lanes}"
    )
    monkeypatch.setattr(foreign_policy.SumSpec, "resolved_persistent", property(lambda self: True))
    assert refusal(tmp_path, POLICY_MANIFEST) == (
        "DIR/engine.yaml:22: enumerate.accessors.persistent: candidate sum_rows: SumSpec.resolved_persistent is not a "
        f"method without arguments (cell dtype=fp32){NO_METHOD}"
    )


def test_an_accessor_of_no_field_is_an_error(tmp_path: Path):
    assert refusal(tmp_path, POLICY_MANIFEST, ("{persistent: resolved_", "{persistant: resolved_")) == (
        'DIR/engine.yaml:22: enumerate.accessors.persistant: "persistant" is not a kmd field\n'
        '  cure: did you mean "persistent"?'
    )


def test_policy_knobs_that_come_and_go_do_not_break_the_compact_form():
    part = parse_selection((DENSE).read_text(), "dense.yaml").selection
    kernels = [
        Kernel(
            name=f"k.d{head}_c{int(causal)}_bm{block}",
            pack="p",
            arch=("gfx950",),
            source={"kind": "rocke", "source": "s", "builder": "b"},
            spec={"head_size": head, **({"causal": causal} if block != 128 else {}), "block_m": block},
            metadata={"head_size": head, "causal": int(causal), "block_m": block},
            priority=0,
            place=Place("x"),
        )
        for head in (64, 128)
        for causal in (True, False)
        for block in (64, 128, 256)
    ]
    text = author(part, kernels, ["head_size"], policy_knobs=["causal"])
    assert text.count("  - name: ") == 1
    assert "policy_knobs: [causal]" in text
