"""Which kernels are interpreted where not all are: what the sample leaves out must have been met elsewhere."""

from __future__ import annotations

from importlib.resources import files
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.engine_dir import EngineDir
from winnow.interpreter.sample import FEW, covering, sample
from winnow.selection.expand import expand

RECORDS = st.lists(st.fixed_dictionaries({name: st.integers(0, 3) for name in "abcd"}), max_size=40)


def pairs_of(records: list[dict[str, Any]]) -> set[Any]:
    return {pair for record in records for pair in combinations(sorted(record.items()), 2)}


@given(RECORDS)
def test_a_sample_holds_every_pair_of_values_and_nobody_twice(records: list[dict[str, Any]]) -> None:
    chosen = covering(records)
    assert pairs_of([records[i] for i in chosen]) == pairs_of(records)
    assert list(chosen) == sorted(set(chosen))


def test_a_sample_is_a_small_part() -> None:
    records = [dict(zip("abcd", values, strict=True)) for values in product(range(3), repeat=4)]
    assert len(covering(records)) < len(records) // 4


def test_a_field_alone_is_covered_too() -> None:
    assert covering([{"": 1}, {"": 2}, {"": 1}]) == (0, 1)


def test_of_few_kernels_all_are_run_and_of_more_a_part() -> None:
    records = [{"dtype": i % 2, "tile": 0} for i in range(FEW + 1)]
    assert sample(records[:FEW], ["dtype"]) == tuple(range(FEW))
    assert sample(records, ["dtype"]) == (0, 1)


@pytest.mark.parametrize("name", ["attention_gfx950", "attention_gfx11", "attention_gfx12"])
def test_every_tile_of_a_built_in_engine_meets_every_head_width_mask_and_bias(name: str) -> None:
    """A kernel that is wrong for one tile and one width would pass otherwise."""
    engine = EngineDir(Path(str(files("winnow.engines") / name / "engine.yaml")))
    cell = engine.manifest.manifest.reduction.cell
    metadata = [dict(kernel.metadata) for kernel in expand(engine.selection)]
    chosen = [metadata[i] for i in sample(metadata, cell)]

    def met(records: list[dict[str, Any]], *fields: str) -> set[Any]:
        tiles = [name for name in records[0] if name not in cell]
        return {tuple(record[field] for field in (*tiles, *fields)) for record in records}

    together = [(field,) for field in cell] if name == "attention_gfx950" else [tuple(cell)]
    for fields in together:
        assert met(chosen, *fields) == met(metadata, *fields)
