"""The public spaces: numbers that up to eight independent ways of counting agree on."""

from __future__ import annotations

from itertools import islice, product
from pathlib import Path

import pytest

from winnow.importers.space_json import read_space
from winnow.strict.json_reader import load_json

FILES = sorted((Path(__file__).parents[2] / "benchmarks" / "spaces").glob("*.json"))


def test_the_public_spaces_are_there() -> None:
    assert len(FILES) == 9


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_count_marginals_list_and_samples_of_a_public_space(file: Path) -> None:
    space, valid = read_space(file).space, load_json(file).data["valid"]
    assert space.count() == valid
    for instances in space.marginals().values():
        assert sum(instances.values()) == valid
    listed = list(islice(space.tuples(), 200_000))
    assert len(set(listed)) == min(valid, 200_000)
    for point in (*space.sample(50, seed=1), *islice(space.enumerate(), 50)):
        assert space.contains(point)
    assert [tuple(space.point(rank).values()) for rank in range(20)] == listed[:20]


@pytest.mark.parametrize("name", ["dedispersion", "convolution_bh"])
def test_a_public_space_has_the_points_of_the_plain_filter(name: str) -> None:
    file = next(file for file in FILES if file.stem == name)
    data = load_json(file).data
    test = eval(f"lambda {', '.join(data['params'])}: {' and '.join(f'({text})' for text in data['constraints'])}")
    truth = {point for point in product(*data["params"].values()) if test(*point)}
    assert set(read_space(file).space.tuples()) == truth
