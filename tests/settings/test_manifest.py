"""A manifest that names what nothing declares must be refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine_files import FOREIGN_MANIFEST, foreign_engine

from winnow.errors import InputError
from winnow.settings.header import slug_of
from winnow.settings.manifest import load_manifest


def refusal(tmp_path: Path, *edits: tuple[str, str]) -> str:
    text = FOREIGN_MANIFEST
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(InputError) as caught:
        load_manifest(foreign_engine(tmp_path, text))
    return str(caught.value).replace(str(tmp_path), "DIR")


def test_manifest_loads_with_its_defaults(tmp_path: Path):
    manifest = load_manifest(foreign_engine(tmp_path)).manifest
    assert manifest.slug == "row_copy"
    assert manifest.allowed_modules == {"foreign_registry"}
    assert manifest.sweep.rounds >= 2
    assert [(rule.operator, rule.against(field)) for field, rule in manifest.match.items()] == [
        ("equal", "dtype"),
        ("equal", "width"),
    ]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            ("match: {dtype: equal", "match: {dtype: equall"),
            "DIR/engine.yaml:30: match.dtype: no comparison is spelled so; did you mean \"equal\"? (value: 'equall')",
        ),
        (
            ("match: {dtype: equal", "match: {dtype: {multiple_of: tiles}"),
            'DIR/engine.yaml:30: match.dtype: "tiles" is not a kmd field\n  cure: did you mean "tile"?',
        ),
        (
            ("match: {dtype: equal", "match: {dtype: {multiple_of: tile, at_most: tile}"),
            "DIR/engine.yaml:30: match.dtype: say equal, any, or one operator with its metadata field, as "
            "{multiple_of: tile} (value: {'multiple_of': 'tile', 'at_most': 'tile'})",
        ),
        (
            ("cell: [dtype, width]", "cell: [dtype, width, tile]"),
            'DIR/engine.yaml:34: reduction.performance.tile: "tile" is in cell as well',
        ),
        (
            ("cell: [dtype, width]", "cell: [dtype]"),
            'DIR/engine.yaml:32: reduction: kmd field "width" is neither in cell nor in performance',
        ),
        (
            ("{divides: width}", "{divides: widht}"),
            'DIR/engine.yaml:34: reduction.performance.tile.divides: "widht" is not a field of match\n'
            '  cure: did you mean "width"?',
        ),
        (
            ("dtype: {field: dtype}\n", "dtype: {field: dtype, method: dtype}\n"),
            "DIR/engine.yaml:13: specialization.bindings.dtype: name either a field or a method",
        ),
        (
            ("    lanes: {method: lanes}\n", ""),
            'DIR/engine.yaml:12: specialization.bindings: metadata field "lanes" has no binding',
        ),
        (
            ("- {name: lanes, type: int}\n", "- {name: lanes, type: int}\n- {name: lanes, type: int}\n"),
            'DIR/engine.yaml:10: kmd_fields[5].name: "lanes" is declared twice',
        ),
        (
            ('name: "test:RowCopy"', 'name: "RowCopy"'),
            "DIR/engine.yaml:1: engine.name: String should match pattern "
            "'^[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+$' (value: 'RowCopy')",
        ),
        (
            ("family: copy", "famliy: copy"),
            'DIR/engine.yaml:3: famliy: unknown key "famliy"\n  cure: did you mean "family"?',
        ),
        (
            ("ceil(width / tile)", "ceil(width / tiles)"),
            None,
        ),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, edit, message):
    told = refusal(tmp_path, edit)
    if message is None:
        assert told.startswith("DIR/engine.yaml:31: launch_surface.grid[0]")
        assert "tiles" in told
    else:
        assert told == message


def test_slug_is_the_snake_case_of_the_local_name():
    assert slug_of("winnow:GemmCpu") == "gemm_cpu"
    assert slug_of("hipkernel:Gfx950AttentionDense") == "gfx950_attention_dense"
