"""If the tier algebra drifts from the loader's, kernels that a device runs vanish, or a whole engine is dropped."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.targets.generics import GENERICS
from winnow.targets.tiers import Tier, admits_target, compete, covers, expand, overlaps, tier

EXAMPLES = json.loads((Path(__file__).parents[1] / "data/hipdnn/arch_tier_examples.json").read_text())
NAMES = {"explicit": Tier.EXPLICIT, "generic": Tier.GENERIC, "unrestricted": Tier.UNRESTRICTED, "none": None}


def test_generic_rows_of_gpus_are_exactly_those_of_the_loader() -> None:
    rows = {name: list(members) for name, members in GENERICS.items() if name.startswith("gfx")}
    assert rows == EXAMPLES["generics"]


@pytest.mark.parametrize("case", EXAMPLES["tier"], ids=str)
def test_tier_examples(case: dict) -> None:
    assert tier(case["arch"], case["device"]) is NAMES[case["expect"]]


@pytest.mark.parametrize("case", EXAMPLES["compete"], ids=str)
def test_compete_examples(case: dict) -> None:
    assert compete(case["a"], case["b"]) is case["expect"]


@pytest.mark.parametrize("case", EXAMPLES["covers"], ids=str)
def test_covers_examples(case: dict) -> None:
    assert covers(case["outer"], case["inner"]) is case["expect"]


def test_expand() -> None:
    assert expand(["gfx11-generic", "gfx942"]) == {*EXAMPLES["generics"]["gfx11-generic"], "gfx942"}
    assert expand([]) is None
    assert expand(["gfx99-generic"]) == frozenset()


def test_a_processor_outside_the_table_is_not_admitted_by_its_name() -> None:
    assert not admits_target(["gfx11-generic"], "gfx1154")
    assert admits_target(["gfx11-generic"], "gfx1153")


def test_cpu_levels_resolve_like_gpus() -> None:
    assert tier(["x86-64-generic"], "x86-64-v4") is Tier.GENERIC
    assert tier(["x86-64-v3", "x86-64-generic"], "x86-64-v3") is Tier.EXPLICIT
    assert tier(["x86-64-v3"], "x86-64-v4") is None


def test_native_generic_and_open_kernels_coexist_but_equal_tiers_do_not() -> None:
    native, generic, unrestricted = ["gfx1151"], ["gfx11-generic"], []
    assert not compete(native, generic)
    assert not compete(native, unrestricted)
    assert not compete(generic, unrestricted)
    assert compete(native, ["gfx1151", "gfx942"])
    assert compete(generic, ["gfx11-generic", "gfx942"])


def test_overlaps() -> None:
    assert overlaps([], ["gfx942"])
    assert overlaps(["gfx1151"], ["gfx11-generic"])
    assert not overlaps(["gfx942"], ["gfx11-generic"])
    assert not overlaps(["gfx99-generic"], ["gfx99-generic"])
    assert overlaps(["gfx942"], ["gfx942:xnack-"])


DEVICES = ["gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "x86-64-v3"]
LISTS = st.lists(st.sampled_from([*DEVICES, *GENERICS, "gfx99-generic"]), max_size=4)


@settings(deadline=None)
@given(LISTS, LISTS)
def test_set_functions_agree_with_asking_every_device(a: list[str], b: list[str]) -> None:
    every = {*DEVICES, *(member for members in GENERICS.values() for member in members)}
    admitted = [{device for device in every if admits_target(arches, device)} for arches in (a, b)]
    for arches, devices in zip((a, b), admitted, strict=True):
        assert expand(arches) == (frozenset(devices) if arches else None)
    assert overlaps(a, b) == (not a or not b or bool(admitted[0] & admitted[1]))
    assert covers(a, b) == (not a or not b or admitted[1] <= admitted[0])
    tie = any(tier(a, device) is not None and tier(a, device) == tier(b, device) for device in every)
    assert compete(a, b) == tie == compete(b, a)
