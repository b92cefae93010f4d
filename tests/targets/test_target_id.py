"""A feature that a target id leaves open must not be read as off: the wrong object would load, or none."""

import pytest

from winnow.errors import InputError
from winnow.targets.target_id import parse_target_id


def test_features_are_tri_state() -> None:
    parsed = parse_target_id("gfx90a:sramecc+:xnack-")
    assert (parsed.processor, dict(parsed.features)) == ("gfx90a", {"sramecc": True, "xnack": False})
    assert str(parsed) == "gfx90a:sramecc+:xnack-"
    assert str(parse_target_id("gfx90a:xnack-:sramecc+")) == "gfx90a:sramecc+:xnack-"
    assert dict(parse_target_id("gfx90a").features) == {}


@pytest.mark.parametrize(
    ("code", "device", "runs"),
    [
        ("gfx942", "gfx942:sramecc+:xnack-", True),
        ("gfx942:xnack-", "gfx942:sramecc+:xnack-", True),
        ("gfx942:xnack+", "gfx942:sramecc+:xnack-", False),
        ("gfx942:xnack+", "gfx942", False),
        ("gfx942", "gfx950", False),
    ],
)
def test_runs_on(code: str, device: str, runs: bool) -> None:
    assert parse_target_id(code).runs_on(parse_target_id(device)) is runs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gfx94:xnack+", 'unknown architecture "gfx94"\n  cure: did you mean "gfx942"?'),
        (
            "gfx942:xnak+",
            'target id "gfx942:xnak+": unknown feature "xnak"\n  cure: did you mean "xnack"?',
        ),
        ("gfx942:xnack", 'target id "gfx942:xnack": feature "xnack" is neither on (+) nor off (-)'),
        ("gfx942:", 'target id "gfx942:": feature "" is neither on (+) nor off (-)'),
        (
            "gfx942:xnack+:xnack-",
            'target id "gfx942:xnack+:xnack-": feature "xnack" is given twice\n  cure: keep one of the two',
        ),
        (
            "x86-64-v3:xnack+",
            'target id "x86-64-v3:xnack+": x86-64-v3 has no target-id features\n  cure: write "x86-64-v3"',
        ),
    ],
)
def test_bad_ids(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_target_id(text)
    assert str(error.value) == message
