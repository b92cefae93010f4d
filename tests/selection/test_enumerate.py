"""The enumerator must work with a registry that knows nothing of Winnow, and lose nothing silently."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import foreign_registry
import pytest
from engine_files import FOREIGN_MANIFEST, foreign_engine

from winnow.cli.app import run
from winnow.errors import InputError, Refused, WinnowError
from winnow.selection.author import author, kernels_of
from winnow.selection.document import parse_selection
from winnow.selection.enumerate import enumerate_variants
from winnow.selection.expand import expand
from winnow.settings.manifest import load_manifest


def loaded(tmp_path: Path, *edits: tuple[str, str]):
    text = FOREIGN_MANIFEST
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return load_manifest(foreign_engine(tmp_path, text))


def refusal(tmp_path: Path, *edits: tuple[str, str], kind: type[WinnowError] = InputError, **options) -> str:
    with pytest.raises(kind) as caught:
        enumerate_variants(loaded(tmp_path, *edits), **options)
    return str(caught.value).replace(str(tmp_path), "DIR")


def test_slice_ends_every_point_in_the_ledger(tmp_path: Path):
    enumeration = enumerate_variants(loaded(tmp_path))
    # two arches × two dtypes × (4 points at width 64 + 2 at width 96)
    assert enumeration.counts() == {"selected": 20, "refused": 2, "duplicate": 2, "over budget": 0}
    refused = [entry for entry in enumeration.ledger if entry.outcome == "refused"]
    assert {entry.reason for entry in refused} == {"tile 64 does not divide the width 96"}
    assert len(enumeration.ledger) == 24


def test_variant_carries_spec_and_metadata_in_the_matchers_spelling(tmp_path: Path):
    variant = enumerate_variants(loaded(tmp_path)).variants[0]
    assert variant.spec == {"dtype": "fp32", "width": 64, "tile": 16, "unroll": 1}
    assert variant.metadata == {"dtype": "FLOAT", "width": 64, "tile": 16, "unroll": 1, "lanes": 4}


def test_production_yields_each_sweep_space(tmp_path: Path):
    variants = enumerate_variants(loaded(tmp_path), space="production").variants
    per_width = Counter(variant.cell["width"] for variant in variants)
    assert per_width == {64: 2 * 2 * 6, 96: 2 * 2 * 4}


def test_written_selection_expands_to_the_same_kernels(tmp_path: Path):
    manifest = loaded(tmp_path)
    variants = enumerate_variants(manifest).variants
    named = kernels_of(manifest, variants)
    kernels = expand(parse_selection(author(manifest.manifest, named, ["dtype", "width"]), "s.yaml"))
    assert [(k.arch, dict(k.spec), dict(k.metadata)) for k in kernels] == [
        ((v.arch,), dict(v.spec), dict(v.metadata)) for v in variants
    ]
    assert kernels[0].name == "copy_tiled.fp32_wi64_ti16_un1.gfx942"


def test_candidate_that_raises_is_an_error_with_its_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(foreign_registry.Copy, "admits", lambda self, request: request.nonsense)
    assert refusal(tmp_path) == (
        "DIR/engine.yaml:20: enumerate.registry: candidate copy_tiled raised AttributeError: "
        "'CopyRequest' object has no attribute 'nonsense' (cell dtype=fp32, width=64)"
    )


def test_capability_refusal_is_in_the_ledger(tmp_path: Path):
    enumeration = enumerate_variants(loaded(tmp_path, ("width: [64, 96]}", "width: [64, 96, 8192]}")))
    wide = [entry for entry in enumeration.ledger if entry.cell["width"] == 8192]
    assert {entry.reason for entry in wide} == {"rows wider than 4096 need the other kernel"}
    assert len(wide) == 4


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            ("arch: [gfx942, gfx950]}\n  builders", "arch: [gfx94]}\n  builders"),
            'DIR/engine.yaml:22: enumerate.candidates.arch: no candidate runs on "gfx94"\n'
            '  cure: did you mean "gfx942"?',
        ),
        (
            ("arch: [gfx942, gfx950]}\n  builders", 'arch: [gfx942, gfx950], names: ["copi*"]}\n  builders'),
            'DIR/engine.yaml:22: enumerate.candidates.names[0]: no candidate is called "copi*"\n'
            "  cure: known: copy_tiled",
        ),
        (
            ("width: [64, 96]}", "widht: [64, 96]}"),
            'DIR/engine.yaml:24: enumerate.cells: "widht" is not a field of foreign_registry:CopyRequest\n'
            '  cure: did you mean "width"?',
        ),
        (
            ("{when: {width: 64}", "{when: {wide: 64}"),
            'DIR/engine.yaml:27: enumerate.slice[0].when.wide: "wide" is not a field of a cell\n'
            '  cure: did you mean "width"?',
        ),
        (
            ("{when: {width: 64}", "{when: {width: 65}"),
            "DIR/engine.yaml:27: enumerate.slice[0]: this slice rule matches no candidate and cell",
        ),
        (
            ("registry: foreign_registry:REGISTRY", "registry: foreign_registry:REGISTER"),
            'DIR/engine.yaml:20: enumerate.registry: module "foreign_registry" has no "REGISTER"\n'
            '  cure: did you mean "REGISTRY"?',
        ),
        (
            ("registry: foreign_registry:REGISTRY", "registry: foreign_registry"),
            'DIR/engine.yaml:20: enumerate.registry: "foreign_registry" is not of the form module:attribute',
        ),
        (
            ("registry: foreign_registry:REGISTRY", "registry: forein:REGISTRY"),
            'DIR/engine.yaml:20: enumerate.registry: module "forein" cannot be imported: '
            "No module named 'forein'\n"
            "  cure: install the package that holds it, put its folder on PYTHONPATH, or correct the name",
        ),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(tmp_path: Path, edit, message):
    assert refusal(tmp_path, edit) == message


def test_budget_refuses_the_total(tmp_path: Path):
    message = refusal(tmp_path, ("  slice:\n", "  budget: {kernels: 19}\n  slice:\n"), kind=Refused)
    assert message.startswith("DIR/engine.yaml:26: enumerate.budget: 20 kernels, the budget is 19")


def test_budget_refuses_one_crowded_cell(tmp_path: Path):
    message = refusal(tmp_path, ("  slice:\n", "  budget: {per_cell: 3}\n  slice:\n"), kind=Refused)
    assert message.startswith(
        "DIR/engine.yaml:26: enumerate.budget: 4 kernels of copy_tiled on gfx942 in the cell dtype=fp32, width=64, "
        "the budget is 3"
    )


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (
            [("{name: width, type: int}", "{name: width, type: string}")],
            'metadata field "width" is of type string, the value is 64\n'
            "  cure: leave the field out, or give it a real value",
        ),
        (
            [
                ("- {name: lanes, type: int}", "- {name: lanes, type: int}\n- {name: extra, type: int}"),
                ("  bindings:", "  matcher_only_fields: [extra]\n  bindings:"),
                ("lanes: {}}", "lanes: {}, extra: {}}"),
            ],
            'no value for the metadata field "extra", which has no default\n'
            "  cure: leave the field out, or give it a real value",
        ),
        (
            [("kernel_source_kind: c", "kernel_source_kind: rocke")],
            'its pack "copy_tiled_gfx942" has no discriminator, and the engine has several packs\n'
            "  cure: name the operation that the pack is for, or say pack_discriminates: false",
        ),
    ],
)
def test_what_generate_would_refuse_enumerate_refuses_at_the_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], edits: list[tuple[str, str]], message: str
):
    loaded(tmp_path, *edits)
    line = 1 + (tmp_path / "engine.yaml").read_text().splitlines().index("enumerate:")
    assert run(["enumerate", "-m", str(tmp_path / "engine.yaml")]) == 2
    assert capsys.readouterr().err.replace(str(tmp_path), "DIR") == (
        f"winnow: DIR/engine.yaml:{line}: enumerate: copy_tiled.fp32_wi64_ti16_un1.gfx942: {message}\n"
    )
    assert not (tmp_path / "selection.yaml").exists()


def test_kernels_that_no_loader_tells_apart_are_refused_before_they_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """Two candidates may build different kernels of one spec; metadata then says nothing of what differs."""
    twin = type("Twin", (foreign_registry.Copy,), {"name": "copy_twin", "algorithm": "copy_twin"})
    both = (foreign_registry.Copy(), twin())
    monkeypatch.setattr(foreign_registry.Registry, "candidates", lambda self: both)
    built = "{copy_tiled: {source: foreign_registry, builder: build_copy}"
    loaded(tmp_path, (built, f"{built}, copy_twin: {{source: foreign_registry, builder: build_twin}}"))
    assert run(["enumerate", "-m", str(tmp_path / "engine.yaml")]) == 1
    assert capsys.readouterr().err.replace(str(tmp_path), "DIR") == (
        "winnow: DIR/engine.yaml:19: enumerate: copy_twin.fp32_wi64_ti16_un1.gfx942 and "
        "copy_tiled.fp32_wi64_ti16_un1.gfx942 have the same metadata and compete on a device\n"
        "  cure: a loader drops the whole engine: let a metadata field tell them apart, or remove one\n"
    )
    assert not (tmp_path / "selection.yaml").exists()


def test_a_selection_that_would_not_be_read_again_names_the_manifest(tmp_path: Path):
    manifest = loaded(tmp_path)
    kernels = kernels_of(manifest, enumerate_variants(manifest).variants)
    twice = [kernels[0], replace(kernels[1], name=kernels[0].name)]
    with pytest.raises(InputError) as caught:
        author(manifest.manifest, twice)
    assert str(caught.value).startswith(
        f"{tmp_path}/engine.yaml:19: enumerate: the selection that would be written cannot be read: two kernels are "
    )
