"""`winnow space`: if these fail, a user gets a wrong number, or a broken file passes for a space."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from winnow.cli.app import run
from winnow.importers.space_json import read_space

TILES = {
    "name": "tiles",
    "num_params": 3,
    "params": {"block": [16, 32, 48], "tile": [1, 2, 3], "mode": ["row", "col"]},
    "constraints": ["block % (tile * 16) == 0", "mode == 'row' or tile > 1"],
}


@pytest.fixture
def tiles(tmp_path: Path) -> str:
    path = tmp_path / "tiles.json"
    path.write_text(json.dumps(TILES))
    return str(path)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["space", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_count_prints_the_number_alone(tiles: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, tiles, "--count") == (0, "7\n", "")
    code, out, _ = asked(capsys, tiles, "--count", "--json")
    assert (code, json.loads(out)) == (0, {"count": 7, "exact": True})


def test_a_file_without_a_suffix_is_json(tiles: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "stdin"
    pipe.write_bytes(Path(tiles).read_bytes())
    assert asked(capsys, str(pipe), "--count") == asked(capsys, tiles, "--count")


def test_marginals_count_every_value(tiles: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, tiles, "--marginals")
    assert code == 0
    assert out.split("\n") == [
        "block",
        "  16  1",
        "  32  3",
        "  48  3",
        "tile",
        "  1  3",
        "  2  2",
        "  3  2",
        "mode",
        '  "row"  5',
        '  "col"  2',
        "",
    ]
    found = json.loads(asked(capsys, tiles, "--marginals", "--json")[1])
    assert found["marginals"][2] == {
        "param": "mode",
        "values": [{"value": "row", "count": 5}, {"value": "col", "count": 2}],
    }


def test_the_list_has_every_point_once_in_the_order_of_the_file(tiles: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, tiles, "--list")
    points = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert all(list(point) == ["block", "tile", "mode"] for point in points)
    valid = [
        {"block": block, "tile": tile, "mode": mode}
        for block in (16, 32, 48)
        for tile in (1, 2, 3)
        for mode in ("row", "col")
        if block % (tile * 16) == 0 and (mode == "row" or tile > 1)
    ]
    assert sorted(map(str, points)) == sorted(map(str, valid))
    assert asked(capsys, tiles, "--list", "--limit", "2")[1] == "".join(out.splitlines(keepends=True)[:2])
    assert json.loads(asked(capsys, tiles, "--list", "--limit", "2", "--json")[1]) == {"points": points[:2]}


def test_a_sample_repeats_for_its_seed(tiles: str, capsys: pytest.CaptureFixture[str]) -> None:
    first = asked(capsys, tiles, "--sample", "5", "--seed", "3")
    assert first == asked(capsys, tiles, "--sample", "5", "--seed", "3")
    assert first != asked(capsys, tiles, "--sample", "5", "--seed", "4")
    space = read_space(Path(tiles)).space
    assert [space.explain(json.loads(line)) for line in first[1].splitlines()] == [None] * 5


def test_without_a_question_it_says_how_large_the_space_is(tiles: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, tiles)[1] == "3 parameters, 2 constraints\n18 points without constraints\n7 valid\n"


def test_an_estimate_is_never_printed_as_a_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that no structure helps with, over 1e36 points; floats, as their sums may not be regrouped."""
    names = [f"x{i}" for i in range(12)]
    rule = "(" + " + ".join(f"x{i} * {i}.37" for i in range(12)) + ") % 1.0 < 0.25"
    path = tmp_path / "hard.json"
    values = [v + 0.125 * v * v for v in range(1000)]
    path.write_text(json.dumps({"params": dict.fromkeys(names, values), "constraints": [rule]}))
    code, out, _ = asked(capsys, str(path), "--count")
    assert code == 0
    assert out.startswith("estimate ")
    assert "(95 % interval " in out
    found = json.loads(asked(capsys, str(path), "--count", "--json")[1])
    assert found["exact"] is False
    assert "count" not in found
    assert found["low"] < found["estimate"] < found["high"]
    code, out, err = asked(capsys, str(path), "--marginals")
    assert (code, out) == (3, "")
    assert "an exact answer is beyond the budget" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"params": {"m": [8],\n"tile": [0, 2]},\n"constraints": ["m > 0",\n"m % tile == 0"]}',
            ':4: constraints[1]: rule "constraints[1]" (m % tile == 0) cannot be evaluated at m=8, tile=0: '
            "ZeroDivisionError: integer modulo by zero\n"
            "  cure: guard the rule (`x == 0 or y % x == 0`), or take the value out of the space",
        ),
        (
            '{"params": {"tile": [2]},\n"constraints": [\n"tyle > 1"]}',
            ':3: constraints[0]: "tyle > 1" at column 1: unknown name "tyle"\n  cure: did you mean "tile"?',
        ),
        (
            '{"params": {"tile": [2],\n"block": []},\n"constraints": []}',
            ':2: params.block: axis "block" has no values\n  cure: give it one value at least, or remove it',
        ),
        (
            '{"params": {"tile": [2],\n"block": [1, 2, 1]},\n"constraints": []}',
            ':2: params.block: axis "block": the choice block=1 appears twice (rules cannot distinguish '
            "values that are equal in Python)\n  cure: keep one of the two",
        ),
        (
            '{"params": {"tile": [2],\n"block": [[1]]},\n"constraints": []}',
            ':2: params.block: axis "block": block=[1] is not a JSON scalar\n'
            "  cure: use a bool, an int, a finite float, a string or None",
        ),
        (
            '{"params": {"tile": [2]},\n"constraint": []}',
            ':2: constraint: unknown key "constraint"\n  cure: did you mean "constraints"?',
        ),
        ('{"params": {"tile": [2]}}', ':1: constraints: key "constraints" is missing'),
        (
            '{"params": {"a": [1]},\n"params": {}, "constraints": []}',
            ":2: params: duplicate key (first on line 1)\n  cure: keep one of the two",
        ),
        ('{"params": {"a": [NaN]}, "constraints": []}', ": NaN is not JSON"),
        ('{"params": {"a": [1]},\n"constraints": [', ":2: malformed JSON: Expecting value"),
        ("[]", ":1: not a JSON object\n  cure: give it `params` and `constraints`"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = tmp_path / "space.json"
    path.write_text(text)
    assert asked(capsys, str(path), "--count") == (2, "", f"winnow: {path}{message}\n")


def test_a_missing_file_and_two_questions_are_refused(tiles: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, "nowhere.json", "--count") == (2, "", "winnow: nowhere.json: no such file\n")
    assert asked(capsys, tiles, "--count", "--list") == (
        2,
        "",
        "winnow: --count and --list are two questions\n  cure: ask one of them at a time\n",
    )
    assert asked(capsys, tiles, "--limit", "2") == (2, "", "winnow: --limit goes with --list only\n")
