"""Names of configurations: if these fail, one kernel has two names, or a stored name points at another kernel."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from winnow.errors import InputError, Refused
from winnow.registry.tuning_id import (
    canonicalise,
    config_key,
    defaults_fingerprint,
    drop_base_equal,
    key_of,
    names_variant,
    sorted_knobs,
    tuning_id,
)
from winnow.spaces import Rule, TuningSpace, choices, flag, gated, values


def digest(payload: Any) -> str:
    return hashlib.sha256(json.dumps(payload, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]


def test_the_key_follows_the_published_recipe() -> None:
    defaults = defaults_fingerprint({"block_n": 64, "persistent": False})
    assert defaults == digest({"defaults": {"block_n": 64, "persistent": False}})
    key = config_key(
        abi="v1", arch="gfx950", path="dense", variant="d128", knobs=(("b", 2), ("a", True)), defaults=defaults
    )
    assert key == digest(
        {
            "v": 2,
            "abi": "v1",
            "arch": "gfx950",
            "path": "dense",
            "variant": "d128",
            "knobs": [["a", True], ["b", 2]],
            "defaults": defaults,
        }
    )


def test_a_changed_default_or_knob_changes_the_key() -> None:
    same: dict[str, Any] = {"abi": "v1", "arch": "gfx950", "path": "dense", "variant": "d128"}
    keys = {
        config_key(**same, knobs=(), defaults=defaults_fingerprint({"block_n": 64})),
        config_key(**same, knobs=(), defaults=defaults_fingerprint({"block_n": 128})),
        config_key(**same, knobs=(), defaults=""),
        config_key(**same, knobs=(("on", True),)),
        config_key(**same, knobs=(("on", 1),)),
    }
    assert len(keys) == 5


def test_an_id_is_readable_before_its_last_at_sign_and_exact_after_it() -> None:
    assert tuning_id("d128", "0123456789abcdef") == "d128_wpenone@0123456789abcdef"
    identifier = tuning_id("d@128", "0123456789abcdef", waves_per_eu=2)
    assert identifier == "d@128_wpe2@0123456789abcdef"
    assert key_of(identifier) == "0123456789abcdef"
    assert names_variant(identifier, "d@128")
    assert not names_variant(identifier, "d@12")
    with pytest.raises(InputError) as caught:
        key_of("d128")
    assert str(caught.value) == '"d128" is not a tuning id\n  cure: <variant>_wpe<N|none>@<16 hex digits>'


def test_knobs_are_scalars_and_set_once() -> None:
    assert sorted_knobs({"b": 1, "a": None}) == (("a", None), ("b", 1))
    with pytest.raises(InputError) as caught:
        sorted_knobs((("a", 1), ("a", 1)))
    assert str(caught.value) == 'knob "a" is set twice\n  cure: keep one of the two'
    for value in ([1], float("inf"), (1,)):
        with pytest.raises(InputError) as caught:
            sorted_knobs((("a", value),))
        assert str(caught.value) == (
            f'knob "a": {value!r} is not a JSON scalar\n  cure: use a bool, an int, a finite float, a string or None'
        )


def test_knobs_equal_to_the_base_are_dropped_and_only_those() -> None:
    base = {"block_n": 64, "persistent": False, "pad": 1}
    knobs = {"block_n": 64, "persistent": True, "pad": True, "other": 1}
    assert drop_base_equal(knobs, base) == (("other", 1), ("pad", True), ("persistent", True))


SPACE = TuningSpace(
    (
        choices("block_n", [32, 64, 128]),
        values("waves", 2, [1, 2, 4]),
        gated("pad", {"pad_k": [0, 8], "pad_v": [0, 8]}),
        flag("fence"),
    ),
    (Rule.from_expression("block_n <= 64 or waves != 1", absent={"waves": 2}),),
)
BASE: dict[str, Any] = {"block_n": 64, "waves": 2, "pad": False, "pad_k": 0, "pad_v": 0, "fence": False}


@pytest.mark.parametrize(
    ("knobs", "canonical"),
    [
        ({}, ()),
        ({"block_n": 64, "waves": 2, "fence": False}, ()),
        ({"block_n": 32}, (("block_n", 32),)),
        ({"pad_k": 8}, ()),
        ({"pad": False, "pad_k": 8, "pad_v": 8}, ()),
        ({"pad": True, "pad_k": 0, "pad_v": 8}, (("pad", True), ("pad_v", 8))),
        ({"fence": True, "waves": 4}, (("fence", True),)),
        ({"waves": 4}, (("waves", 4),)),
    ],
)
def test_one_configuration_has_one_spelling(knobs: dict[str, Any], canonical: tuple[tuple[str, Any], ...]) -> None:
    """Base-equal, gated-off and inert knobs go; here `waves` does nothing beside a fence."""

    def inert(chosen: Any) -> list[str]:
        return ["waves"] if chosen.get("fence") else []

    assert canonicalise(SPACE, knobs, base=BASE, inert=inert) == canonical
    assert canonicalise(SPACE, canonical, base=BASE, inert=inert) == canonical


def test_what_is_not_a_configuration_is_refused() -> None:
    with pytest.raises(InputError) as unknown:
        canonicalise(SPACE, {"block_m": 64}, base=BASE)
    assert str(unknown.value) == 'unknown knob "block_m"\n  cure: did you mean "block_n"?'
    with pytest.raises(Refused) as value:
        canonicalise(SPACE, {"block_n": 48}, base=BASE)
    assert str(value.value) == (
        'the knobs are not a configuration of this space: axis "block_n" has no choice block_n=48'
    )
    with pytest.raises(Refused) as against_rule:
        canonicalise(SPACE, {"block_n": 128, "waves": 1}, base=BASE)
    assert str(against_rule.value) == (
        'the knobs are not a configuration of this space: rule "block_n <= 64 or waves != 1" refuses '
        "block_n=128, waves=1"
    )
